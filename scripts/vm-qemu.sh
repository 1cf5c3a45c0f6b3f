# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Part of scripts/vm: what QEMU is started with, and what a kernel's console
# tells. It uses scripts/vm's variables.
# shellcheck disable=SC2154

# Our init, static, so that it needs nothing of the guest.
build_init()
{
	local source=$here/selftests/vm/init.c

	init=$out/vm/init
	[ ! "$init" -nt "$source" ] || return 0
	mkdir -p "$out/vm" "$out/log"
	${CC:-gcc} -O2 -Wall -Wextra -static -o "$init.$$" "$source" > "$out/log/vm-init.log" 2>&1 &&
		mv "$init.$$" "$init"
}

# take_stock VERSION: Debian's kernel, and what it has as modules of what the
# guest needs to come up, in the order to load them.
take_stock()
{
	local image release

	image=$("$here/scripts/kernel-debian" image "$1") || not_up "no stock kernel $1"
	release=$(ls "$image/lib/modules")
	kernel=$image/boot/vmlinuz
	modules=$image/modules-vm
	[ -e "$modules" ] || modprobe -d "$image" -S "$release" -a --show-depends \
		virtio_pci virtio_console 9pnet_virtio 9p |
		sed -n 's/^insmod \([^ ]*\).*/\1/p' | awk '!seen[$0]++' > "$modules"
}

# pack_initramfs COMMAND...: init, the command, modules.
pack_initramfs()
{
	local tree=$work/initramfs path

	mkdir -p "$tree/dev"
	ln "$init" "$tree/init" 2> /dev/null || cp "$init" "$tree/init"
	printf '%s\0' "$here" "$out" /usr/bin/env "PATH=$PATH" "$@" > "$tree/command"
	if [ -n "$modules" ]; then
		mkdir "$tree/lib"
		while read -r path; do
			cp "$path" "$tree/lib/" || not_up "can't copy module $path"
			path=/lib/${path##*/}
			[[ $path != *.xz ]] || xz -d "$tree$path" || not_up "can't unpack module $path"
			echo "${path%.xz}" >> "$tree/modules"
		done < "$modules"
	fi
	(cd "$tree" && find . | cpio --quiet -o -H newc) > "$work/initrd"
}

# Does KVM run a guest here? Only a guest that comes up proves it: there are
# machines whose /dev/kvm runs a few instructions and no kernel. Asked once
# after each start of the machine, with a kernel that is ours.
kvm_works()
{
	local known boot ours=$out/kernel/bzImage status=0

	[ -z "${VM_ACCEL:-}" ] || { [ "$VM_ACCEL" = kvm ]; return; }
	[ -r "$ours" ] || ours=$out/kernel-debug/bzImage
	[ -w /dev/kvm ] && [ -r "$ours" ] || return 1
	boot=$(cat /proc/sys/kernel/random/boot_id)
	known=$out/vm/kvm-$boot
	if [ ! -e "$known" ]; then
		VM_ACCEL=kvm "$here/scripts/vm" --kernel "$ours" --boot 15 --timeout 15 -- true > /dev/null 2>&1 || status=$?
		rm -f "$out"/vm/kvm-*
		echo $status > "$known"
	fi
	[ "$(cat "$known")" -eq 0 ]
}

# QEMU before 8.1 has -singlestep, later ones a property of TCG.
has_one_insn_per_tb()
{
	qemu-system-x86_64 -M none -display none -accel tcg,one-insn-per-tb=on -monitor stdio \
		<<< quit > /dev/null 2>&1
}

one_insn_per_tb()
{
	if has_one_insn_per_tb; then
		arguments+=(-accel "tcg,one-insn-per-tb=on")
	else
		arguments+=(-accel tcg -singlestep)
	fi
}

# count_instructions: the guest's clock counts them, 4 ns each. QEMU before 8.1 lets
# one processor run until the next timer is due, and the others only if it halts: then
# there is but one, unless more were asked for.
count_instructions()
{
	[[ " ${more[*]} " == *" -icount "* ]] || arguments+=(-icount "shift=2")
	# So fast goes the time stamp counter.
	line+=" tsc_early_khz=1000000"
	[ -n "$cpus" ] || has_one_insn_per_tb || cpus=1
}

# A kernel whose configuration, beside it, says that it has no PCI runs on QEMU's
# microvm; Debian's, and any other, on a PC.
has_pci()
{
	! grep -qsx '# CONFIG_PCI is not set' "$(dirname "$kernel")/config"
}

# processor MICROVM: who runs the guest. Under TCG the time of a microvm is counted in
# instructions: however busy the host is, the kernel finds its timers as fast as they
# should be, and an interrupt comes behind any instruction. A PC has other clocks to
# compare with, and Debian's 6.1 does not get its second processor up that way.
processor()
{
	# With five-level page tables an interrupt while the kernel reads anew
	# what its CPU can do meets a KASAN that knows of four.
	local cpu=max,la57=off

	# KVM counts no instructions.
	if [[ -z $singlestep && " ${more[*]} " != *" -icount "* ]] && kvm_works; then
		arguments+=(-accel kvm -cpu host)
		return
	fi
	if [ -n "$singlestep" ]; then
		one_insn_per_tb
	else
		# With a thread for each processor one may run a breakpoint that
		# another has just taken out of the kernel's code, which the kernel
		# then dies of: static branches are turned over with every event.
		arguments+=(-accel "tcg,thread=single")
	fi
	arguments+=(-cpu "$cpu")
	[ -z "$1" ] || count_instructions
}

qemu_arguments()
{
	local port microvm=1 bus=device

	# A report ends the guest where the kernel can't go on; reboot=t works
	# without ACPI.
	line="console=ttyS0 loglevel=5 panic=-1 oops=panic reboot=t"
	# A busy host delivers the PIT late, and the kernel would give up over it.
	line+=" no_timer_check sysctl.kernel.hung_task_timeout_secs=300"
	arguments=(-nodefaults -no-user-config -display none -no-reboot
		-m "$memory" -kernel "$kernel" -initrd "$work/initrd")
	if has_pci; then
		microvm='' bus=pci
		arguments+=(-M pc)
	else
		# Without ACPI the kernel is told of the devices on its command line.
		arguments+=(-M "microvm,acpi=off,pit=on,pic=on,rtc=on")
	fi
	processor "$microvm"
	arguments+=(-smp "${cpus:-2}" -chardev "file,id=console,path=$work/console" -serial chardev:console
		-device "virtio-serial-$bus")
	for port in stdout stderr status; do
		arguments+=(-chardev "file,id=$port,path=$work/$port"
			-device "virtserialport,chardev=$port,name=$port")
	done
	arguments+=(-fsdev "local,id=root,path=/,security_model=none,readonly=on,multidevs=remap"
		-device "virtio-9p-$bus,fsdev=root,mount_tag=root"
		-fsdev "local,id=out,path=$out,security_model=none,multidevs=remap"
		-device "virtio-9p-$bus,fsdev=out,mount_tag=out")
	arguments+=(-append "$line $append" "${more[@]}")
}

# The kernel's reports on the console: from the first one on, behind the last of several
# tests that began before.
kernel_report()
{
	tr -d '\r' < "$work/console" | awk '
	/vm: test / && !found { test = $0 }
	/\[ cut here \]|Oops: |BUG: |Kernel panic - |KASAN: |UBSAN: |INFO: task |detected stall|lockup/ ||
	/WARNING: (possible|suspicious|inconsistent|bad |lock |nested|Nested|held lock)/ {
		if (!found && test) print test
		found = 1
	}
	found && ++lines <= 200
	END { exit !found }'
}

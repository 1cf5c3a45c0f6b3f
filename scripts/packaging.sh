# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What scripts/portable and scripts/deb share.
# shellcheck disable=SC2154 # scripts/lib.sh sets $here

# commit FORMAT: of the last commit, as git log prints it.
commit()
{
	git -c safe.directory='*' -C "$here" log -1 --format="$1" 2> /dev/null ||
		die "this is no git repository: set SOURCE_DATE_EPOCH, DEBFULLNAME and DEBEMAIL"
}

# The one of the module, too.
package_version()
{
	sed -n 's/^PACKAGE_VERSION="\(.*\)"$/\1/p' "$here/kmod/module/dkms.conf"
}

# Whose packages they are: as Debian's tools take it from the environment, or else of
# who made the last commit.
maintainer()
{
	echo "${DEBFULLNAME:-$(commit %an)} <${DEBEMAIL:-$(commit %ae)}>"
}

" SPDX-License-Identifier: GPL-2.0
" Python calls Perl, which calls Ruby: vim -es -u NONE -S nested.vim
python3 << P
def py_spin(n):
    t = 0
    for i in range(n): t += i & 7
    return t
def py_work():
    import vim
    py_spin(60000)
    vim.command('perl pl_work()')
P
perl << P
sub pl_spin { my $t = 0; $t += $_ & 7 for 1..$_[0]; $t }
sub pl_work { pl_spin(60000); VIM::DoCommand('ruby rb_work') }
P
ruby << P
def rb_spin(n)
  t = 0
  i = 0
  while i < n
    t += i & 7
    i += 1
  end
  t
end
def rb_work
  rb_spin(60000)
end
P
let i = 0
while i < 120
  python3 py_work()
  let i += 1
endwhile
qa!

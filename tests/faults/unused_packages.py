"""Leave out the packages that a worker leaves out; the first import of the processes that fork workers."""

from core.unused_packages import leave_out_unused

leave_out_unused()

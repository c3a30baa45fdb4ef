"""Leave out the packages that a worker leaves out; the first import of the processes that fork workers."""

from core.process_start import leave_out_unused

leave_out_unused()

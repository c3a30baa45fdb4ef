"""Leave out the packages that a worker does not use; the fork server of workers imports this module first."""

from core.process_start import leave_out_unused

leave_out_unused()

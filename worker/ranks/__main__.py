"""Run the process of one rank: `python -m worker.ranks`, with its invitation on the standard input."""

from core.logs import capture_output
from core.process_start import garbage_collection_paused, leave_out_unused

if __name__ == "__main__":
    leave_out_unused()
    capture_output()  # before the import of Dask, whose handlers keep the present standard error
    with garbage_collection_paused():
        from worker.ranks.process import main

    main()

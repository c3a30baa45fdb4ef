"""Upload a file with tuspy; a restart continues it. Arguments: endpoint, file, file for stored URLs."""

import sys

from tusclient.client import TusClient
from tusclient.storage import filestorage


def main() -> None:
    """Upload the file and print the URL of the upload."""
    endpoint, path, memory = sys.argv[1:]
    uploader = TusClient(endpoint).uploader(
        path,
        chunk_size=8 * 2**20,
        metadata={"filename": "train.txt"},
        retries=10_000,  # the test ends it
        retry_delay=1,
        store_url=True,
        url_storage=filestorage.FileStorage(memory),  # type: ignore[no-untyped-call]
        upload_checksum=True,
    )
    uploader.upload()
    sys.stdout.write(f"{uploader.url}\n")


if __name__ == "__main__":
    main()

"""Authentication of a training's processes: certificates, and proofs of job, token and rank."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.errors import ExtraMissing

if TYPE_CHECKING:
    from distributed import Security

DRIVER = -1  # rank number of the driver
_NONCE_BYTES = 16


@dataclass(frozen=True, repr=False)
class Identity:
    """Credentials shared by the processes of one attempt at a training.

    Attributes:
        token: Fencing token of the claim.
        secret: Key of the proofs, in hexadecimal digits.
        certificate: Self-signed certificate of all processes, PEM.
        key: Private key of the certificate, PEM.
    """

    job_id: str
    token: int
    secret: str
    certificate: str
    key: str

    @classmethod
    def new(cls, job_id: str, token: int) -> "Identity":
        """Generate a certificate and a secret; a certificate takes a tenth of a second.

        Raises:
            ExtraMissing: A package of the extra `distributed` is missing.
        """
        try:
            from distributed import Security

            temporary = Security.temporary()
        except ImportError as error:
            raise ExtraMissing("a distributed training", "distributed") from error
        return cls(
            job_id, token, secrets.token_hex(32), str(temporary.tls_ca_file), str(temporary.tls_worker_key)
        )

    def security(self) -> "Security":
        """Return the TLS settings of Dask's connections, in which both ends present the certificate."""
        from distributed import Security

        return Security(
            require_encryption=True,
            tls_ca_file=self.certificate,
            tls_worker_cert=self.certificate,
            tls_worker_key=self.key,
        )

    def proof(self, rank: int, nonce: bytes) -> bytes:
        """Return the proof (HMAC) of a rank for a nonce of the peer."""
        message = f"{self.job_id}\n{self.token}\n{rank}\n".encode() + nonce
        return hmac.digest(bytes.fromhex(self.secret), message, hashlib.sha256)

    def proves(self, rank: int, nonce: bytes, proof: bytes) -> bool:
        """Return whether a peer's proof is valid for its rank and a nonce of this process."""
        return hmac.compare_digest(self.proof(rank, nonce), proof)


def new_nonce() -> bytes:
    """Return random bytes to use once."""
    return secrets.token_bytes(_NONCE_BYTES)

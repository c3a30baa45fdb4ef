"""Integer codes of texts, in the order of their first appearance."""

from collections import defaultdict
from itertools import islice
from typing import Any, cast

import pyarrow as pa

from core.data.texts import Texts
from core.types import Int32Array
from rankery.identifiers import normalise_ids

# Impressions of formats without action names are counted by the first name.
IMPRESSION_ACTIONS = ("impression", "view", "shown", "item_impression", "product_impression")
ONE_QUERY = "all"  # query id where the log has no queries, or a session or ranking has none


class Codes:
    """Encodes texts as integers from 0, in the order of their first appearance."""

    def __init__(self) -> None:
        self._codes: defaultdict[str, int] = defaultdict()
        self._codes.default_factory = self._codes.__len__

    def __len__(self) -> int:
        return len(self._codes)

    def of(self, text: str) -> int:
        """Return the code of a text; a new text gets the next code."""
        return self._codes[text]

    def find(self, text: str) -> int:
        """Return the code of a text, -1 for an unknown text."""
        return self._codes.get(text, -1)

    def of_array(self, texts: Any) -> Int32Array:
        """Return the codes of an Arrow array of texts without nulls, (n,)."""
        encoded = texts.dictionary_encode()
        codes = [self.of(text) for text in encoded.dictionary.to_pylist()]
        return cast("Int32Array", pa.array(codes, pa.int32()).take(encoded.indices).to_numpy())

    def text(self, code: int) -> str:
        """Return the text of a code, in time linear in the code."""
        return next(islice(self._codes, code, None))

    def texts(self) -> Texts:
        """Return all texts, in the order of their codes."""
        return Texts.of(list(self._codes))


class IdCodes(Codes):
    """Encodes ids of queries or documents; `7` and `7.0` are one id, as in datasets."""

    def __init__(self) -> None:
        super().__init__()
        self._respelled: dict[str, int] = {}

    def of(self, text: str) -> int:
        """Return the code of an id; a new id gets the next code."""
        if ".0" not in text:
            return super().of(text)
        code = self._respelled.get(text)
        if code is None:
            normalised = normalise_ids([text]).texts[0].as_py()
            code = self._respelled[text] = super().of(normalised)
        return code

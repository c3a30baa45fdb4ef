"""Small files of judgments with findings and faults that the tests expect."""

import random

QUERIES = 60
LONG_QUERY = "60"
LONG_QUERY_DOCUMENTS = 130
QUERIES_WITHOUT_RELEVANT = 3
LEAKING, CONSTANT, GAPPED = "f2", "f3", "f4"
TABLE_FEATURES = 60
ODD_QUERY = "a/b <b>c</b> ü"


def letor_text(queries: int = QUERIES, seed: int = 0) -> str:
    """Write LETOR text; f2 equals the label, f3 is always 7, and the first document of a query has no f4."""
    draw = random.Random(seed)
    lines = []
    for query in range(1, queries + 1):
        documents = LONG_QUERY_DOCUMENTS if str(query) == LONG_QUERY else 12
        for document in range(documents):
            label = 0 if query <= QUERIES_WITHOUT_RELEVANT else draw.choice([0, 0, 1, 2, 3, 4])
            gap = "nan" if document == 0 else f"{draw.random():.4f}"
            values = f"1:{label + draw.gauss(0, 2):.4f} 2:{label} 3:7 4:{gap} 5:{draw.random():.4f}"
            lines.append(f"{label} qid:{query} {values} # d{query}-{document} inc = {document}")
    return "\n".join([*lines, ""])


def table_text(seed: int = 0) -> str:
    """Write a table whose queries have a split and a country; labels are -1 to 2, and some are missing."""
    draw = random.Random(seed)
    names = [f"f{j}" for j in range(1, TABLE_FEATURES + 1)]
    lines = [",".join(["query_id", "document_id", "label", "split", "country", *names])]
    queries = [ODD_QUERY, *(f"q{number}" for number in range(1, 20))]
    for number, query in enumerate(queries):
        split = ("train", "train", "train", "vali", "test")[number % 5]
        country = "de" if number % 2 else "fr"
        for document in range(8):
            label = ("", "-1", "0", "1", "2")[draw.randrange(5)] if document else "2"
            values = [f"{draw.random():.3f}" for _ in names]
            lines.append(",".join([query, f"d{document}", label, split, country, *values]))
    return "\n".join([*lines, ""])


def broken_text(faults: int) -> str:
    """Write LETOR text in which every second row is unreadable, with this number of unreadable rows."""
    return "".join(f"1 qid:1 1:0.5\n<b>fine</b>{row} qid:1 1:0.5\n" for row in range(faults))

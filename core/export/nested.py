"""Write trees as nested texts."""

from collections.abc import Callable

from core.export.nodes import Nodes


def nested(nodes: Nodes, leaf: Callable[[int], str], split: Callable[[int, str, str], str]) -> list[str]:
    """Write each tree from its leaves up, so that no depth is too deep to write.

    Args:
        nodes: The forest.
        leaf: Writes the leaf at a node.
        split: Writes the split at a node around its children's texts.

    Returns:
        (n_trees,) texts.
    """
    features, right = nodes.features.tolist(), nodes.right.tolist()
    trees = []
    for tree in range(len(nodes.roots)):
        own = nodes.of_tree(tree)
        texts: dict[int, str] = {}
        for node in reversed(own):
            if features[node] < 0:
                texts[node] = leaf(node)
            else:
                texts[node] = split(node, texts.pop(node + 1), texts.pop(right[node]))
        trees.append(texts[own.start])
    return trees


def float32_text(value: float) -> str:
    """Write a float32 value with nine digits, of which any reader makes the same float32 again."""
    return f"{value:.9g}"

/**
 * Entries by id that stay where they are from one look to the next, so that focus and what is open stay, too.
 * @module
 */

/**
 * @template {{id: string}} Item
 * @template {{node: HTMLElement, update: (item: Item) => any}} Entry
 * @param {HTMLElement} list
 * @param {(item: Item) => Entry} make
 */
export function keyedList(list, make) {
  /** @type {Map<string, Entry>} */
  const entries = new Map();

  /** Puts the nodes in the items' order without moving those that are already right. */
  function arrange(items) {
    const wanted = new Set(items.map(({ id }) => id));
    for (const id of [...entries.keys()]) {
      if (!wanted.has(id)) entries.delete(id);
    }
    const nodes = items.map((item) => {
      if (!entries.has(item.id)) entries.set(item.id, make(item));
      return entries.get(item.id).node;
    });
    for (const child of [...list.children]) {
      if (!nodes.includes(child)) child.remove();
    }
    nodes.forEach((node, index) => {
      if (list.children[index] !== node) list.insertBefore(node, list.children[index] || null);
    });
  }

  return {
    arrange,
    /** @param {string} id @returns {Entry} */
    entry: (id) => entries.get(id),
    /** @param {Item[]} items @returns {Promise<any>} */
    show(items) {
      arrange(items);
      return Promise.all(items.map((item) => entries.get(item.id).update(item)));
    },
  };
}

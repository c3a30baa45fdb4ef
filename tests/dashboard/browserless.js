/**
 * What the modules of the dashboard read of a page while they are imported, for Node, which has none.
 * @module
 */
globalThis.document = { body: { dataset: { root: "/rankery" } }, querySelectorAll: () => [] };
globalThis.location = new URL("https://example.org/rankery/models/web%3A3?tag=a#view=try&tree=2");
globalThis.history = { replaceState: (_state, _title, url) => (location.hash = url.startsWith("#") ? url : "") };

// The times on a page are refreshed for ever; they must not keep Node from its end.
const { setInterval } = globalThis;
globalThis.setInterval = (...given) => setInterval(...given).unref();

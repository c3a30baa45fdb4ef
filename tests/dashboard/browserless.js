/**
 * Stubs of the browser objects that modules of the dashboard read while Node imports them.
 * @module
 */
globalThis.document = { body: { dataset: { root: "/rankery" } }, querySelectorAll: () => [] };
globalThis.location = new URL("https://example.org/rankery/models/web%3A3?tag=a#view=try&tree=2");
globalThis.history = { replaceState: (_state, _title, url) => (location.hash = url.startsWith("#") ? url : "") };

// The timer that refreshes the times on a page never ends, and must not keep the Node process alive.
const { setInterval } = globalThis;
globalThis.setInterval = (...given) => setInterval(...given).unref();

/** Uploads: dropped files, the request with its progress, and the form for runs. @module */
import { DATASET_ROLES } from "../datasets/dataset.js";
import { onSubmit, payloadOf } from "./forms.js";
import { RESUMABLE_BYTES, forget, persist, sendResumable } from "./resumable.js";
import { failure, idempotentSender, transfer, Unavailable } from "../page/api.js";
import { announce, find, findAll, setText } from "../page/dom.js";
import { duration, size } from "../page/format.js";

/** @typedef {(sent: number, total: number, state?: import("./resumable.js").UploadState) => void} OnProgress bytes */

/** Sends the same form with the same Idempotency-Key until its answer has arrived. */
const sendOnce = idempotentSender();

/**
 * Upload a form, and report progress, which fetch does not; large files are sent first, in separate requests.
 *
 * Large files that have arrived are not sent again if the form is rejected or its response is lost. The same form sent
 * again after a lost response creates nothing twice.
 * @param {string} path @param {FormData} form @param {OnProgress} onProgress
 * @returns {{done: Promise<any>, abort: () => void}} done resolves to the response's JSON, or null if the upload was stopped
 */
export function upload(path, form, onProgress) {
  const large = [...form].flatMap(([name, value]) => (isLarge(value) ? [/** @type {const} */ ([name, value])] : []));
  const stopped = new AbortController();
  const { signal } = stopped;
  /** @param {string} key */
  async function send(key) {
    if (!large.length) return sendForm(path, form, onProgress, key, signal);
    const total = large.reduce((sum, [, { size: bytes }]) => sum + bytes, 0);
    let before = 0;
    for (const [name, file] of large) {
      const id = await sendResumable(name, file, (sent, state) => onProgress(before + sent, total, state), signal);
      if (id === null) return null;
      form.set(name, `upload:${id}`);
      before += file.size;
    }
    onProgress(total, total);
    const answer = await persist(
      () => sendForm(path, form, () => {}, key, signal),
      () => onProgress(total, total, "waiting"),
      signal,
    );
    if (answer !== null) for (const [name, file] of large) forget(name, file);
    return answer;
  }
  return { done: sendOnce(contentsKey(path, form), send), abort: () => stopped.abort() };
}

/** Return a text that differs between requests with other contents. @param {string} path @param {FormData} form */
function contentsKey(path, form) {
  const fields = [...form].map(([name, value]) =>
    value instanceof File ? [name, value.name, value.size, value.lastModified] : [name, value],
  );
  return JSON.stringify([path, ...fields]);
}

/** @param {FormDataEntryValue} value @returns {value is File} */
const isLarge = (value) => value instanceof File && value.size > RESUMABLE_BYTES;

/**
 * Send a form in one request, and return the response's JSON, or null if the upload was stopped.
 * @param {string} path @param {FormData} body @param {OnProgress} onProgress @param {string} idempotencyKey
 * @param {AbortSignal} signal
 */
async function sendForm(path, body, onProgress, idempotencyKey, signal) {
  const headers = { accept: "application/json", "idempotency-key": idempotencyKey };
  const answer = await transfer("POST", path, { body, headers, onProgress, signal }).catch((error) => {
    if (signal.aborted) return null;
    throw error;
  });
  if (!answer) return null;
  if (answer.status >= 400) throw failure(answer.status, answer.responseText);
  try {
    return JSON.parse(answer.responseText);
  } catch {
    // A proxy may answer with HTML.
    throw new Unavailable("The answer of the API was lost.");
  }
}

/**
 * Return the contents of a form, texts first: the server needs the options before the files.
 * @param {HTMLFormElement} form
 * @param {Record<string, any>} [texts] values of the fields that are not files
 */
export function contentsOf(form, texts = payloadOf(form)) {
  const data = new FormData();
  for (const [name, value] of Object.entries(texts))
    data.append(name, typeof value === "string" ? value : JSON.stringify(value));
  for (const input of findAll(form, 'input[type="file"]:enabled', HTMLInputElement)) {
    if (input.files?.length) data.append(input.name, input.files[0]);
  }
  return data;
}

/**
 * Send the contents of a form that has a progress bar and a button to stop.
 * @param {HTMLFormElement} form @param {string} path @param {FormData} contents
 * @returns {Promise<any>} the response's JSON, null if the upload was stopped
 */
export async function sendUpload(form, path, contents) {
  const stop = find(form, '[data-action="abort"]', HTMLButtonElement);
  const progress = find(form, ".upload-progress");
  const sending = upload(path, contents, progressView(progress));
  addEventListener("beforeunload", confirmLeaving);
  stop.onclick = sending.abort;
  stop.hidden = false;
  try {
    const answer = await sending.done;
    if (!answer) announce("The upload was stopped.");
    return answer;
  } finally {
    removeEventListener("beforeunload", confirmLeaving);
    stop.hidden = true;
    progress.hidden = true;
  }
}

/** Ask before the page is left, which would end the upload. @param {Event} event */
function confirmLeaving(event) {
  event.preventDefault();
}

/** Return a function that shows the progress of an upload. @param {HTMLElement} box with a progress bar and a paragraph @returns {OnProgress} */
export function progressView(box) {
  const bar = find(box, "progress", HTMLProgressElement);
  const words = find(box, "p");
  // The rate counts only bytes since the last resume, so that it is the current rate.
  let start = performance.now();
  let first = 0;
  /** @param {number} sent @param {number} total */
  function remaining(sent, total) {
    const seconds = (performance.now() - start) / 1000;
    const rate = (sent - first) / Math.max(seconds, 0.001);
    return seconds > 1 && rate > 0 ? ` · ${size(rate)}/s · ${duration((total - sent) / rate)} left` : "";
  }
  return (sent, total, state = "sending") => {
    if (state === "resumed") [start, first] = [performance.now(), sent];
    box.hidden = false;
    bar.max = total || 1;
    bar.value = sent;
    if (state === "waiting") setText(words, `${size(sent)} of ${size(total)} · no connection; trying again`);
    else if (sent < total) setText(words, `${size(sent)} of ${size(total)}${remaining(sent, total)}`);
    else setText(words, "sent; waiting for the response");
  };
}

const QUERY_FILE = /\.query(\.gz|\.zst)?$/i;
const ROLE_PATTERNS = new Map([
  ["validation", /vali|valid|dev/i],
  ["test", /test/i],
  ["train", /train/i],
]);

/**
 * Accept files dropped on a form: in a form with several file fields, a file goes to the field that its name suggests.
 * @param {HTMLFormElement} form with file inputs named `file`, `train`, `validation` and `test`
 * @param {(layout: "file" | "parts") => void} choose shows the file inputs of a layout
 */
export function acceptDrops(form, choose) {
  onDrop(form, (files, target) => {
    const onto = target.closest(".field")?.querySelector('input[type="file"]');
    if (files.length === 1 && onto instanceof HTMLInputElement) setFile(onto, files[0]);
    else distributeFiles(form, files, choose);
  });
}

/** Accept one file dropped anywhere on the form. @param {HTMLFormElement} form */
export function acceptDrop(form) {
  onDrop(form, ([file]) => setFile(find(form, 'input[type="file"]', HTMLInputElement), file));
}

/** @param {HTMLFormElement} form @param {(files: File[], target: Element) => void} take */
function onDrop(form, take) {
  form.addEventListener("dragover", (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    form.dataset.over = "";
  });
  form.addEventListener("dragleave", (event) => {
    if (!(event.relatedTarget instanceof Node && form.contains(event.relatedTarget))) delete form.dataset.over;
  });
  form.addEventListener("drop", (event) => {
    delete form.dataset.over;
    const files = [...(event.dataTransfer?.files ?? [])];
    if (!files.length) return;
    event.preventDefault();
    take(files, event.target instanceof Element ? event.target : form);
  });
}

/** @param {HTMLFormElement} form @param {File[]} files @param {(layout: "file" | "parts") => void} choose */
function distributeFiles(form, files, choose) {
  const data = files.filter((file) => !QUERY_FILE.test(file.name));
  const parts = data.length > 1 || (data.length === 0 && new FormData(form).get("layout") === "parts");
  choose(parts ? "parts" : "file");
  const filesByRole = parts ? withRoles(data) : new Map(data.map((file) => ["file", file]));
  /** @param {string} name */
  const input = (name) => find(form, `input[type="file"][name="${name}"]`, HTMLInputElement);
  for (const [role, file] of filesByRole) setFile(input(role), file);
  for (const file of files.filter(({ name }) => QUERY_FILE.test(name)))
    setFile(input(`${queryFileRole(file, filesByRole, parts)}_query`), file);
}

/** Assign roles to files: by their names, then in the order of train, validation and test. @param {File[]} files */
function withRoles(files) {
  /** @type {Map<string, File>} */ const filesByRole = new Map();
  const unassigned = [];
  for (const file of files) {
    const role = roleOf(file.name, (each) => !filesByRole.has(each));
    if (role) filesByRole.set(role, file);
    else unassigned.push(file);
  }
  for (const role of DATASET_ROLES.filter((each) => !filesByRole.has(each))) {
    const file = unassigned.shift();
    if (file) filesByRole.set(role, file);
  }
  return filesByRole;
}

/** @param {string} name @param {(role: string) => boolean} [isFree] whether no other file has the role */
function roleOf(name, isFree = () => true) {
  return [...ROLE_PATTERNS].find(([role, pattern]) => pattern.test(name) && isFree(role))?.[0];
}

/** @param {File} file @param {Map<string, File>} filesByRole @param {boolean} parts */
function queryFileRole({ name }, filesByRole, parts) {
  const stem = name.replace(QUERY_FILE, "");
  const owner = [...filesByRole].find(([, file]) => file.name.startsWith(stem));
  return owner?.[0] || (parts ? roleOf(name) || "train" : "file");
}

/** @param {HTMLInputElement} input @param {File} file */
function setFile(input, file) {
  const transfer = new DataTransfer();
  transfer.items.add(file);
  input.files = transfer.files;
  input.dispatchEvent(new Event("change", { bubbles: true }));
}

/**
 * Bind the form that uploads a TREC run, so that rankings of other systems can be evaluated and compared.
 * @param {HTMLFormElement} form @param {(job: Schemas["Job"]) => void} uploaded
 */
export function runForm(form, uploaded) {
  acceptDrop(form);
  onSubmit(form, async () => {
    uploaded(await upload("/v1/rankings", contentsOf(form), () => {}).done);
  });
}

/**
 * Files dropped on a form: where it has several places for them, each goes where its name says.
 * @module
 */
import { PARTS } from "../datasets/dataset_labels.js";

const SIDE = /\.query(\.gz|\.zst)?$/i;
const NAMES = { validation: /vali|valid|dev/i, test: /test/i, train: /train/i };

/**
 * @param {HTMLFormElement} form its file inputs are named after the upload's parts
 * @param {(layout: "file" | "parts") => void} choose shows the places that are needed
 */
export function acceptDrops(form, choose) {
  onDrop(form, (files, target) => {
    const onto = target.closest(".field")?.querySelector('input[type="file"]');
    if (files.length === 1 && onto) give(onto, files[0]);
    else spread(form, files, choose);
  });
}

/** One file, wherever on the form it is dropped. @param {HTMLFormElement} form */
export function acceptDrop(form) {
  onDrop(form, ([file]) => give(form.querySelector('input[type="file"]'), file));
}

function onDrop(form, take) {
  form.addEventListener("dragover", (event) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    form.dataset.over = "";
  });
  form.addEventListener("dragleave", (event) => {
    if (!form.contains(event.relatedTarget)) delete form.dataset.over;
  });
  form.addEventListener("drop", (event) => {
    delete form.dataset.over;
    const files = [...event.dataTransfer.files];
    if (!files.length) return;
    event.preventDefault();
    take(files, event.target);
  });
}

function spread(form, files, choose) {
  const data = files.filter((file) => !SIDE.test(file.name));
  const parts = data.length > 1 || (data.length === 0 && form.elements.layout.value === "parts");
  choose(parts ? "parts" : "file");
  const places = parts ? placesOf(data) : new Map(data.map((file) => ["file", file]));
  for (const [place, file] of places) give(form.elements[place], file);
  for (const file of files.filter(({ name }) => SIDE.test(name))) give(form.elements[`${sidePlace(file, places, parts)}_query`], file);
}

/** By what is in the name, then in the order of train, validation, test. */
function placesOf(files) {
  const places = new Map();
  const unplaced = [];
  for (const file of files) {
    const part = Object.keys(NAMES).find((each) => NAMES[each].test(file.name) && !places.has(each));
    if (part) places.set(part, file);
    else unplaced.push(file);
  }
  for (const part of PARTS.filter((each) => !places.has(each))) {
    if (unplaced.length) places.set(part, unplaced.shift());
  }
  return places;
}

function sidePlace({ name }, places, parts) {
  const stem = name.replace(SIDE, "");
  const owner = [...places].find(([, file]) => file.name.startsWith(stem));
  return owner?.[0] || (parts ? Object.keys(NAMES).find((each) => NAMES[each].test(name)) || "train" : "file");
}

function give(input, file) {
  const transfer = new DataTransfer();
  transfer.items.add(file);
  input.files = transfer.files;
  input.dispatchEvent(new Event("change", { bubbles: true }));
}

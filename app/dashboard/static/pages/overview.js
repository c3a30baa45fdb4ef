/**
 * `/`: what goes on.
 * @module
 */
import { emptyState, replace } from "../parts/dom.js";

const place = document.getElementById("overview");
replace(place, emptyState("Rankery", "Trains, evaluates and serves models that rank.", "/jobs", "Jobs"));
place.removeAttribute("aria-busy");

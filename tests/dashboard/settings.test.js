import assert from "node:assert/strict";
import { test } from "node:test";
import { localTime, choiceOf, CHOICES, cronOf, cronWords } from "../../app/dashboard/static/schedules/builder.js";
import { changeOf, outcome, settingLabel } from "../../app/dashboard/static/settings/labels.js";

test("settings have the units of their names", () => {
  const labels = {
    RANKERY_MAX_UPLOAD_BYTES: ["34359738368", "32 GiB"],
    RANKERY_MIN_BODY_BYTES_PER_SECOND: ["1024", "1 KiB per second"],
    RANKERY_MAX_JSON_BYTES: ["1500", "1,500 B"],
    RANKERY_STORAGE_PATIENCE_SECONDS: ["300", "5 minutes"],
    RANKERY_KEEP_ALIVE_SECONDS: ["75", "75 seconds"],
    RANKERY_WEBHOOK_RETRY_SECONDS: ["5.0,30.0,120.0,86400.0", "5 seconds, 30 seconds, 2 minutes, 1 day"],
    RANKERY_READS_PER_SECOND: ["500", "500 per second"],
    RANKERY_TRASH_DAYS: ["7", "7 days"],
    RANKERY_MAX_RANK_DOCUMENTS: ["10000", "10,000"],
    RANKERY_COMPILE_AHEAD: ["true", "true"],
    RANKERY_HOST: ["127.0.0.1", "127.0.0.1"],
    RANKERY_PORT: ["8000", "8000"],
    RANKERY_DATA_DIR: ["…", "hidden"],
    RANKERY_MAX_STORED_BYTES: ["", ""],
  };
  for (const [name, [value, label]] of Object.entries(labels)) assert.equal(settingLabel(name, value), label, name);
});

const sentence = (method, path) => {
  const { verb, id, owners } = changeOf({ method, path });
  return [verb, id].filter(Boolean).join(" ") + owners;
};

test("an entry of the audit log describes the change", () => {
  assert.equal(sentence("POST", "/v1/jobs"), "Add a job");
  assert.equal(sentence("POST", "/v1/jobs/job_1/cancel"), "Cancel the job job_1");
  assert.equal(sentence("DELETE", "/v1/models/web%3A3"), "Delete the model web:3");
  assert.equal(sentence("PUT", "/v1/models/web/aliases/champion"), "Set the alias champion of the model web");
  assert.equal(
    sentence("PUT", "/v1/models/web/aliases/champion/gate"),
    "Set the gate of the alias champion of the model web",
  );
  assert.equal(sentence("POST", "/v1/evaluations/delete"), "Delete an evaluation");
  assert.equal(sentence("PATCH", "/v1/studies/std_1"), "Change the study std_1");
  assert.equal(sentence("POST", "/v1/click-logs"), "Add a click log");
  assert.equal(sentence("RETENTION", "/v1/jobs/job_1"), "Delete by retention the job job_1");
  assert.equal(changeOf({ method: "PURGE", path: "/v1/jobs/job_1" }).href, null);
  assert.equal(sentence("DELETE", "/v1/keys/key_%zz"), "Delete the key key_%zz");
});

test("a change links to the page of its object, unless it was deleted or has no page", () => {
  assert.equal(changeOf({ method: "PATCH", path: "/v1/models/web%3A3" }).href, "/models/web%3A3");
  assert.equal(changeOf({ method: "DELETE", path: "/v1/models/web%3A3" }).href, null);
  assert.equal(changeOf({ method: "PATCH", path: "/v1/keys/key_1" }).href, null);
});

test("a status is shown as done, refused or failed", () => {
  assert.deepEqual([204, 422, 503].map(outcome), ["Done", "Refused", "Failed"]);
});

test("each choice of the form is recovered from its cron expression", () => {
  for (const [repeat] of CHOICES) {
    const time = repeat === "hour" ? "00:05" : "23:05";
    assert.deepEqual(choiceOf(cronOf(repeat, time)), { repeat, time });
  }
  assert.equal(cronOf("weekdays", "03:00"), "0 3 * * 1-5");
  assert.deepEqual(choiceOf("0 3 * * 7"), choiceOf("0 3 * * 0"));
});

test("cron expressions of a choice are described, and others are shown unchanged", () => {
  assert.equal(cronWords("30 3 * * *"), "Every day at 03:30");
  assert.equal(cronWords("0 3 * * MON-FRI"), "Monday to Friday at 03:00");
  assert.equal(cronWords("15 * * * *"), "Every hour at minute 15");
  for (const other of ["*/5 * * * *", "0 3 * 6 *", "at night", "0 25 * * *", ""]) assert.equal(cronWords(other), other);
});

test("due times are local to the time zone, or in UTC where the browser does not have the zone", () => {
  assert.match(localTime("2026-01-06T03:00:00Z", "Asia/Tokyo"), /^Tue,? 6 Jan 2026, 12:00$/);
  assert.match(localTime("2026-01-06T03:00:00Z", "Factory"), /^Tue,? 6 Jan 2026, 03:00 UTC$/);
});

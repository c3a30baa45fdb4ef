import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Unavailable,
  creator,
  failure,
  getOnce,
  isFinal,
  newIdempotencyKey,
  messageOf,
  Problem,
  idempotentSender,
  request,
} from "../../app/dashboard/static/page/api.js";

test("a problem has the title, detail and errors of its answer", () => {
  const errors = [{ pointer: "/seed", detail: "Not a number" }];
  const problem = failure(422, JSON.stringify({ title: "Invalid", detail: "One field", errors }));
  assert.ok(problem instanceof Problem);
  assert.deepEqual([problem.status, problem.title, problem.message], [422, "Invalid", "One field"]);
  assert.deepEqual(problem.errors, errors);
});

test("an answer in HTML is a problem with its status", () => {
  const problem = failure(413, "<html>Too large</html>");
  assert.ok(problem instanceof Problem);
  assert.equal(problem.message, "The API answered with status 413.");
});

test("a page of a proxy with status 200 is no answer of the service", async (context) => {
  context.mock.method(globalThis, "fetch", async () => new Response("<html>Sign in</html>"));
  await assert.rejects(request("/v1/jobs"), Unavailable);
});

test("statuses 502, 503 and 504 mean an unavailable service, and other statuses a problem", () => {
  for (const status of [502, 503, 504]) assert.ok(failure(status, "") instanceof Unavailable, String(status));
  for (const status of [400, 404, 500]) assert.ok(failure(status, "{}") instanceof Problem, String(status));
  assert.equal(failure(503, '{"detail": "No database."}').message, "No database.");
});

test("a refusal is final unless the service failed or the caller is above a limit", () => {
  for (const status of [403, 404, 422]) assert.ok(isFinal(failure(status, "{}")), String(status));
  for (const status of [429, 500, 503]) assert.ok(!isFinal(failure(status, "{}")), String(status));
});

test("every thrown value has a message", () => {
  assert.equal(messageOf(new Error("broken")), "broken");
  assert.equal(messageOf("broken"), "broken");
});

test("idempotency keys have 128 bits and differ", () => {
  assert.match(newIdempotencyKey(), /^[0-9a-f]{32}$/);
  assert.notEqual(newIdempotencyKey(), newIdempotencyKey());
});

test("an Idempotency-Key is kept until the response has been read or the request is refused permanently", async () => {
  const keys = [];
  const lost = () => Promise.reject(new TypeError("network error"));
  const answers = [
    { status: 201, headers: new Headers(), text: lost },
    new Response("", { status: 500 }),
    new Response('{"id": "job_1"}', { status: 201 }),
    new Response("{}", { status: 422 }),
    new Response('{"id": "job_2"}', { status: 201 }),
  ];
  globalThis.fetch = async (_url, { headers }) => {
    keys.push(headers["idempotency-key"]);
    return answers[keys.length - 1];
  };
  const create = creator();
  await assert.rejects(create("/v1/jobs", {}), Unavailable);
  await assert.rejects(create("/v1/jobs", {}), Problem);
  assert.equal((await create("/v1/jobs", {})).id, "job_1");
  await assert.rejects(create("/v1/jobs", {}), Problem);
  assert.equal((await create("/v1/jobs", {})).id, "job_2");
  const [first, second, third, fourth, fifth] = keys;
  assert.deepEqual([second, third], [first, first]);
  assert.equal(new Set([first, fourth, fifth]).size, 3);
});

test("an answer that does not change is read once, and again after a failure", async () => {
  let requests = 0;
  globalThis.fetch = async () => {
    requests += 1;
    return new Response('{"items": []}', { status: requests === 1 ? 500 : 200 });
  };
  await assert.rejects(getOnce("/v1/losses"), Problem);
  const answers = await Promise.all([getOnce("/v1/losses"), getOnce("/v1/losses")]);
  assert.deepEqual([answers[0], requests], [{ items: [] }, 2]);
  assert.equal(answers[0], answers[1]);
});

test("requests that overlap have separate Idempotency-Keys, each kept until its answer", async () => {
  const repeated = idempotentSender();
  const keys = [];
  /** @type {Map<string, () => void>} */
  const lose = new Map();
  const send = (contents) =>
    repeated(contents, (key) => {
      keys.push(key);
      return new Promise((_, reject) => lose.set(contents, () => reject(new Unavailable("lost"))));
    });
  const sent = ["a", "b"].map((contents) => assert.rejects(send(contents), Unavailable));
  lose.get("b")();
  lose.get("a")();
  await Promise.all(sent);
  for (const contents of ["a", "b", "a"])
    await repeated(contents, async (key) => {
      keys.push(key);
    });
  const [a, b, againA, againB, later] = keys;
  assert.deepEqual([againA, againB], [a, b]);
  assert.equal(new Set([a, b, later]).size, 3);
});

test("a problem names fields as forms do", () => {
  const errors = [
    { pointer: "/hyperparameters/num_leaves", detail: "must be at least 2" },
    { pointer: "/metrics/1", detail: "unknown metric" },
  ];
  const detail = "2 problems; the first is /hyperparameters/num_leaves: must be at least 2";
  assert.equal(new Problem(422, { detail, errors }).message, "2 problems; the first is num leaves: must be at least 2");
  const [, metric] = errors;
  const message = new Problem(422, { detail: "/metrics/1: unknown metric", errors: [metric] }).message;
  assert.equal(message, "metrics 2: unknown metric");
  assert.equal(
    new Problem(422, { detail: "no place", errors: [{ pointer: "", detail: "no place" }] }).message,
    "no place",
  );
});

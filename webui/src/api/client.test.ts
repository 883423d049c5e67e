// The client against a fetch that answers what the test says.
import { afterEach, expect, test, vi } from "vitest";
import { ApiError, call, errorOf, lines, onSignedOut, queryString, requestOf } from "./client";

afterEach(() => vi.unstubAllGlobals());

function answering(body: string, status = 200) {
  const fetched = vi.fn(async (_url: string, _init: RequestInit) => new Response(body, { status }));
  vi.stubGlobal("fetch", fetched);
  return fetched;
}

test("path parameters are filled in and escaped, lists repeated, absent ones left out", () => {
  const request = requestOf("streamTaskLogs", {
    path: { task_id: "a/b c" },
    query: { levels: ["A", "B"], limit: 3, follow: undefined, from: null },
  });
  expect(request).toEqual({ method: "GET", url: "/api/v1/tasks/a%2Fb%20c/logs?levels=A&levels=B&limit=3" });
});

test("a missing path parameter is an error of the caller", () => {
  expect(() => requestOf("getTrial", {})).toThrow("trial_id");
});

test("an empty query is no question mark", () => {
  expect(queryString({ a: undefined, b: [] })).toBe("");
});

test("a body travels as JSON and the answer comes back parsed", async () => {
  const fetched = answering('{"token":"t","user":{"username":"a"}}');
  const answer = await call("login", { body: { username: "a", password: "b" } });
  expect(answer.token).toBe("t");
  expect(fetched.mock.calls[0]?.[0]).toBe("/api/v1/auth/login");
  expect(fetched.mock.calls[0]?.[1].body).toBe('{"username":"a","password":"b"}');
});

test("a refusal carries the status, the reason and the master's own words", async () => {
  answering('{"error":{"code":5,"reason":"not_found","error":"experiment 9 does not exist","details":{"id":9}}}', 404);
  const failure = call("getMe");
  await expect(failure).rejects.toBeInstanceOf(ApiError);
  await expect(failure).rejects.toMatchObject({
    status: 404,
    reason: "not_found",
    message: "experiment 9 does not exist",
    details: { id: 9 },
  });
});

test("an answer that is no JSON still names the status", () => {
  expect(errorOf(502, "<html>Bad Gateway</html>").message).toContain("502");
});

test("an ended session is told to the page, a wrong password is not", async () => {
  const told = vi.fn();
  onSignedOut(told);
  answering('{"error":{"error":"no"}}', 401);
  await expect(call("login", { body: { username: "a", password: "b" } })).rejects.toThrow("no");
  expect(told).not.toHaveBeenCalled();
  await expect(call("getMe")).rejects.toThrow("no");
  expect(told).toHaveBeenCalledOnce();
});

test("a master that does not answer is status 0", async () => {
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("Failed to fetch")));
  await expect(call("getMe")).rejects.toMatchObject({ status: 0, reason: "unreachable" });
});

test("lines cut anywhere between chunks come out whole", async () => {
  const text = '{"result":{"logEntry":{"id":1}}}\n{"result":{"logEntry":{"id":2}}}\n\n{"result":{"logEntry":{"id":3}}}';
  answeringIn([text.slice(0, 7), text.slice(7, 25), text.slice(25)]);
  const found: number[] = [];
  for await (const line of lines("streamMasterLogs", {}, new AbortController().signal)) found.push(line.logEntry.id);
  expect(found).toEqual([1, 2, 3]);
});

test("an error line ends the stream with the master's words", async () => {
  answeringIn(['{"result":1}\n{"error":{"error":"database is away","http_code":503}}\n']);
  const read = async () => {
    for await (const _ of lines("streamMasterLogs", {}, new AbortController().signal));
  };
  await expect(read()).rejects.toMatchObject({ message: "database is away", status: 503 });
});

function answeringIn(chunks: readonly string[]): void {
  const body = new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
      controller.close();
    },
  });
  vi.stubGlobal("fetch", async () => new Response(body));
}

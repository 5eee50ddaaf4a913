/** Commands at a gateway that stops in the middle of its answer, or gives none. */
import { afterEach, expect, it, vi } from "vitest";
import { remoteApi } from "../../src/cli/remote-api.ts";
import { tollgateHere } from "../support/command.ts";
import { startRecorder } from "../support/recorder.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

it.each([
  [["usage", "--csv"], "text/csv", "a,b\n1,2\n"],
  [["keys", "list", "--json"], "application/json", ""],
])(
  "%s reports an answer that breaks off in one line, and exits with 1",
  async (words, type, printed) => {
    const gateway = await startRecorder((_request, response) => {
      response.writeHead(200, { "content-type": type });
      response.write("a,b\n1,2\n", () => setImmediate(() => response.socket!.destroy()));
    });
    const environment = { TOLLGATE_ADMIN_TOKEN: "token" };
    const { code, stdout, stderr } = await tollgateHere(
      [...words, "--url", gateway.url],
      environment,
    );
    await gateway.close();
    expect(stderr).toMatch(/^tollgate: the answer of http:\S+ broke off: .+\. Run it again\n$/);
    expect({ code, stdout }).toEqual({ code: 1, stdout: printed });
  },
);

it.each([
  [
    "without an answer",
    false,
    /^no gateway answers at http:\S+: it took too long\. Is it running\?$/,
  ],
  [
    "within its answer",
    true,
    /^the answer of http:\S+ broke off: it took too long\. Run it again$/,
  ],
])("says of a gateway that is too slow, %s, that it took too long", async (_when, begins, said) => {
  const gateway = await startRecorder((_request, response) => {
    if (begins) response.writeHead(200).flushHeaders();
  });
  const real = AbortSignal.timeout.bind(AbortSignal);
  vi.spyOn(AbortSignal, "timeout").mockImplementation(() => real(begins ? 1_000 : 50));
  const call = { method: "GET", path: "/keys" } as const;
  await expect(remoteApi(gateway.url, "token").call(call)).rejects.toThrow(said);
  await gateway.close();
});

it("says after two seconds, once, which gateway it waits for", async () => {
  const waiting: (() => void)[] = [];
  const gateway = await startRecorder((_request, response) => {
    waiting.push(() => response.writeHead(200).end("{}"));
  });
  const said = vi.spyOn(console, "error").mockReturnValue();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const api = remoteApi(gateway.url, "token");
  for (let calls = 1; calls <= 2; calls += 1) {
    const answer = api.call({ method: "GET", path: "/keys" });
    await vi.waitUntil(() => waiting.length === calls);
    vi.advanceTimersByTime(2_000);
    waiting.at(-1)!();
    expect(await answer).toEqual({});
  }
  expect(said.mock.calls).toEqual([
    [`Waiting for the gateway at ${gateway.url}, for 30 seconds at most.`],
  ]);
  vi.useRealTimers();
  await gateway.close();
});

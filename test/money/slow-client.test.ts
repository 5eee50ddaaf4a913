// A client that hardly reads: backpressure slows the vendor until the call times out. The vendor bills what it wrote, so the client
// pays for the part that arrived. T62.
import type { Socket } from "node:net";
import { countTokens } from "gpt-tokenizer";
import { afterEach, expect, it, onTestFinished, vi } from "vitest";
import { connectUnread, restOf } from "../support/held-client.ts";
import { eventually } from "../support/patience.ts";
import { unreadAt } from "../support/unread.ts";
import { chatConfig, delta, describeGateways, talk, type Bench } from "./support.ts";

const config = (url: string) =>
  chatConfig(url, 'price: { input: "3", output: "15" }', { provider: "timeouts: { total_s: 60 }" });

const piece = "fox ".repeat(16 * 1024);

async function call(bench: Bench): Promise<Socket> {
  const socket = await connectUnread(bench.url);
  const text = JSON.stringify(talk({ stream: true }));
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${bench.key}\r\n` +
      `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
  return socket;
}

describeGateways("clients that hardly read", { config }, (bench) => {
  afterEach(() => bench().expectClean());

  it("BILL-21 T62: pay for what arrived when the call times out, and the provider is not blamed", async () => {
    let pieces = 0;
    bench().up.answer(async (_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (;;) {
        pieces += 1;
        if (response.write(delta(piece))) continue;
        await new Promise((resume) => response.once("drain", resume));
      }
    });
    const before = await bench().rowIds();
    // The call's time stands still until the system holds data that the client does not read.
    vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const socket = await call(bench());
    await eventually(() => unreadAt(bench().url) === 1, "data that the client does not read");
    await vi.advanceTimersByTimeAsync(60_000);
    // The ledger returns what the key has reserved after a pause, by the same clock.
    await eventually(async () => {
      await vi.advanceTimersByTimeAsync(100);
      return (await bench().holds()).length === 0;
    }, "no open hold");
    vi.useRealTimers();
    const row = await bench().newestRow(before);
    expect(row).toMatchObject({ status: "failed", usage_source: "estimated" });
    const { outputTokens } = row.usage!;
    expect(outputTokens).toBeGreaterThan(countTokens(piece));
    // The vendor wrote more than arrived: the rest was still in buffers.
    expect(outputTokens).toBeLessThanOrEqual(pieces * countTokens(piece));
    expect(await bench().entry(row.id)).toMatchObject({
      kind: "charge",
      amount_nano: row.cost_nano,
    });
    expect(row.cost_nano).toBeGreaterThan(15_000n * BigInt(outputTokens!));
    // The client gets an error, because the answer is incomplete.
    expect(await restOf(socket)).toContain("upstream_error");
    expect(row.attempts).toMatchObject([{ outcome: "ok" }]);
    socket.destroy();
  });
});

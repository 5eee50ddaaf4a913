/** The sandbox script: the effect of each field, the same at all four endpoints. */
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { leavingAfter, scripted, useSandbox } from "./support.ts";
import { endpoints, receive, send, textOf } from "./vendors.ts";

const sandbox = useSandbox();

describe.each(endpoints)("script at $name", (endpoint) => {
  const call = (script: object, stream = false, signal?: AbortSignal) =>
    send({
      url: sandbox.url,
      endpoint,
      // The endpoint's name makes each line unique, because `times` counts equal lines at all endpoints.
      text: scripted(script, `Hello ${endpoint.name}`),
      stream,
      ...(signal ? { signal } : {}),
    });
  const stream = async (script: object) => receive(await call(script, true));
  const abc = { reply: "abcdef", chunk_chars: 1 };

  it("reply: the same text whole and streamed, and a stream ends with its marker", async () => {
    const reply = 'Zeichen: äöü 🦊 \u2028 "quoted"';
    expect(endpoint.text(await (await call({ reply })).json())).toBe(reply);
    const { events, broken } = await stream({ reply, chunk_chars: 1 });
    expect(textOf(endpoint, events)).toBe(reply);
    expect(events.at(-1)).toContain(endpoint.endMarker);
    expect(broken).toBe(false);
  });

  it("status, error, headers, retry_after: an error before the first byte", async () => {
    const response = await call({
      status: 503,
      error: { message: "No capacity" },
      retry_after: 7,
      headers: { "x-extra": "1" },
    });
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("7");
    expect(response.headers.get("x-extra")).toBe("1");
    expect(await response.json()).toMatchObject({ error: { message: "No capacity" } });
  });

  it("times: only the first calls fail, and the content stays", async () => {
    const script = { status: 500, times: 2, reply: `ok ${endpoint.name}` };
    const statuses = [(await call(script)).status, (await call(script)).status];
    expect(statuses).toEqual([500, 500]);
    const third = await call(script);
    expect(endpoint.text(await third.json())).toBe(`ok ${endpoint.name}`);
  });

  it("times: a script without failures applies to the first calls only", async () => {
    const script = { reply: `once ${endpoint.name}`, times: 1 };
    expect(endpoint.text(await (await call(script)).json())).toBe(`once ${endpoint.name}`);
    expect(endpoint.text(await (await call(script)).json())).toContain("This is the sandbox.");
  });

  it("only: the named endpoints fail, and others do not", async () => {
    const here = await call({ status: 500, only: [endpoint.name] });
    const elsewhere = await call({ status: 500, only: ["another"], reply: "calm" });
    expect([here.status, elsewhere.status]).toEqual([500, 200]);
    expect(endpoint.text(await elsewhere.json())).toBe("calm");
  });

  it("cut_after_chunks: the connection breaks after n chunks, or in the middle of a whole body", async () => {
    const { events, broken } = await stream({ ...abc, cut_after_chunks: 2 });
    expect(broken).toBe(true);
    expect(textOf(endpoint, events)).toBe("ab");
    const whole = await call({ ...abc, cut_after_chunks: 2 });
    await expect(whole.text()).rejects.toThrow("terminated");
  });

  it("end_after_chunks: the stream closes normally after n chunks, without the end marker", async () => {
    const { events, broken } = await stream({ ...abc, end_after_chunks: 2 });
    expect(broken).toBe(false);
    expect(textOf(endpoint, events)).toBe("ab");
    expect(events.join("\n")).not.toContain(endpoint.endMarker);
  });

  it("no_end_marker: the stream lacks only its last event", async () => {
    const { events } = await stream({ ...abc, no_end_marker: true });
    expect(textOf(endpoint, events)).toBe("abcdef");
    expect(events.at(-1)).not.toContain(endpoint.endMarker);
    expect((await stream(abc)).events.at(-1)).toContain(endpoint.endMarker);
  });

  it("stream_error: the stream has the vendor's error event and no end marker", async () => {
    const { events } = await stream({ ...abc, stream_error: 2, error: "Lost my thread" });
    expect(events.join("\n")).toContain("Lost my thread");
    expect(events.at(-1)).not.toContain(endpoint.endMarker);
  });

  it("malformed: the answer is broken JSON, an HTML page, or empty", async () => {
    const { events } = await stream({ ...abc, malformed: "json" });
    const unreadable = events.filter((data) => data !== "[DONE]" && !isJson(data));
    expect(unreadable).toHaveLength(1);
    const broken = await call({ malformed: "json" });
    expect(isJson(await broken.text())).toBe(false);
    const page = await call({ malformed: "html", status: 502 });
    expect(page.status).toBe(502);
    expect(page.headers.get("content-type")).toBe("text/html");
    expect(await (await call({ malformed: "empty" })).text()).toBe("");
  });

  it("whole and streamed: the answer has the other form than requested", async () => {
    const whole = await call({ ...abc, whole: true }, true);
    expect(whole.headers.get("content-type")).toBe("application/json");
    expect(endpoint.text(await whole.json())).toBe("abcdef");
    const { events } = await receive(await call({ ...abc, streamed: true }));
    expect(textOf(endpoint, events)).toBe("abcdef");
  });

  it("sse_cut_bytes: the same bytes come in chunks that cut characters", async () => {
    const script = { reply: "äöü🦊".repeat(20), chunk_chars: 3 };
    const { events, packets } = await stream({ ...script, sse_cut_bytes: 7 });
    expect(textOf(endpoint, events)).toBe(script.reply);
    // The kernel may join pieces, so not every packet has 7 bytes. Their ends still show the cuts.
    const decoder = new TextDecoder("utf-8", { fatal: true });
    const endsInsideCharacter = packets.some((packet) => !isUtf8(decoder, packet));
    expect(endsInsideCharacter).toBe(true);
  });

  it("delay_ms and chunk_delay_ms: time passes before the first byte and between chunks", async () => {
    const started = performance.now();
    const response = await call({ ...abc, delay_ms: 60, chunk_delay_ms: 10 }, true);
    const headAfter = performance.now() - started;
    const { packets } = await receive(response);
    const doneAfter = performance.now() - started;
    expect(headAfter).toBeGreaterThan(55);
    expect(doneAfter - headAfter).toBeGreaterThan(40);
    expect(packets.length).toBeGreaterThanOrEqual(5);
  });

  it("hang and hang_after_chunks: the vendor is silent until the client leaves, and the journal says aborted", async () => {
    const silent = call({ hang: true }, false, AbortSignal.timeout(80));
    await expect(silent).rejects.toThrow("timeout");
    const client = leavingAfter(150);
    const response = await call({ ...abc, hang_after_chunks: 2 }, true, client.signal);
    const { events, broken } = await receive(response, client.heard);
    expect([broken, textOf(endpoint, events)]).toEqual([true, "ab"]);
    await expect
      .poll(() => sandbox.journal.list().map((entry) => [entry.aborted, entry.status]))
      .toEqual([
        [true, null],
        [true, 200],
      ]);
  });

  it("flood: one event of n bytes", async () => {
    const { events } = await stream({ flood: 300_000 });
    expect(textOf(endpoint, events)).toBe("x".repeat(300_000));
    expect(
      events.filter((data) => endpoint.text(data === "[DONE]" ? {} : JSON.parse(data))),
    ).toHaveLength(1);
  });

  it("an invalid script is refused in the vendor's error format", async () => {
    for (const bad of [{ replay: "x" }, { reply: 5 }, { delay_ms: -1 }]) {
      const response = await call(bad);
      expect(response.status).toBe(400);
      expect(JSON.stringify(await response.json())).toContain("#sandbox");
    }
  });
});

describe("the sandbox with a difficult client", () => {
  it("waits for a client that reads slowly, and aborts when it leaves", async () => {
    const leaving = new AbortController();
    const script = { reply: "z".repeat(20_000_000), chunk_chars: 10_000 };
    const response = await send({
      url: sandbox.url,
      endpoint: endpoints[0]!,
      text: scripted(script),
      stream: true,
      signal: leaving.signal,
    });
    const reader = response.body!.getReader();
    await reader.read();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(sandbox.journal.list()[0]).toMatchObject({ duration_ms: null });
    leaving.abort();
    await expect.poll(() => sandbox.journal.list()[0]!.aborted).toBe(true);
  });

  it("answers 400 to an invalid path, and keeps running", async () => {
    const socket = connect(Number(new URL(sandbox.url).port), "127.0.0.1");
    socket.write("GET // HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    let answer = "";
    for await (const chunk of socket) answer += String(chunk);
    expect(answer).toContain("400 Bad Request");
    expect((await fetch(sandbox.url)).status).toBe(200);
  });
});

describe("script at chat", () => {
  const post = (messages: object[]) =>
    fetch(`${sandbox.url}/openai/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: "Bearer sandbox" },
      body: JSON.stringify({ model: "sandbox-large", messages }),
    });

  it("next: the script of the next step applies once for each round of tool calls", async () => {
    const script = {
      tool_calls: [{ name: "a" }],
      next: { tool_calls: [{ name: "b" }], next: { reply: "done" } },
    };
    const messages: object[] = [{ role: "user", content: scripted(script) }];
    const said: string[] = [];
    for (let step = 0; step < 3; step += 1) {
      const answer = (await (await post(messages)).json()) as {
        choices: [
          {
            message: { content: string; tool_calls?: [{ id: string; function: { name: string } }] };
          },
        ];
      };
      const { message } = answer.choices[0];
      const call = message.tool_calls?.[0];
      said.push(call?.function.name ?? message.content);
      messages.push(message, { role: "tool", tool_call_id: call?.id, content: "ok" });
    }
    expect(said).toEqual(["a", "b", "done"]);
  });

  it("applies through the tool loop of its own question, and not to the next question", async () => {
    const call = { id: "call_1", type: "function", function: { name: "a", arguments: "{}" } };
    const loop = [
      { role: "user", content: scripted({ reply: "scripted" }) },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "call_1", content: "ok" },
    ];
    const text = async (messages: object[]) =>
      endpoints[0]!.text(await (await post(messages)).json());
    expect(await text(loop)).toBe("scripted");
    const later = [
      ...loop,
      { role: "assistant", content: "scripted" },
      { role: "user", content: "And now?" },
    ];
    expect(await text(later)).toBe("This is the sandbox. You said: And now?");
  });

  it("GET / prints the table of fields", async () => {
    const { script } = (await (await fetch(sandbox.url)).json()) as { script: object };
    expect(script).toMatchObject({ reply: { kind: "text", group: "content" } });
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function isUtf8(decoder: TextDecoder, bytes: Uint8Array): boolean {
  try {
    decoder.decode(bytes);
    return true;
  } catch {
    return false;
  }
}

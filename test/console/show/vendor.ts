/** A vendor for the pictures of the console: it answers with readable texts, draws landscapes, and is down at some paths. */
import type { ServerResponse } from "node:http";
import { startRecorder, type Recorded, type Recorder } from "../../support/recorder.ts";
import { sceneOf } from "./scenes.ts";

const texts: Readonly<Record<string, string>> = {
  "claude-sonnet-5":
    "Three things changed last week.\n\n1. Refunds that cross midnight are booked on the day they were asked for.\n2. The export has a column for the currency.\n3. Support sees the last five orders beside each chat.\n\nNothing needs to be done by your team.",
  "gpt-5.5":
    "Here is the summary for customers:\n\nRefunds now carry the date you asked for them, exports name their currency, and our support team can see your latest orders while you chat. You do not have to change anything.",
};
const plain = "The order was shipped on Tuesday and should arrive within two days.";

const usageOf = (text: string) => {
  const completion = Math.ceil(text.length / 4);
  return {
    prompt_tokens: 1_840,
    completion_tokens: completion,
    total_tokens: 1_840 + completion,
    prompt_tokens_details: { cached_tokens: 1_280 },
  };
};

const event = (data: object | string): string =>
  `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;

const send = (response: ServerResponse, body: object, status = 200): void =>
  void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));

function chat({ body }: Recorded, response: ServerResponse): void {
  const model = String(body["model"]);
  const text = texts[model] ?? plain;
  const head = { id: "chatcmpl-1", created: 1, model };
  const usage = usageOf(text);
  if (body["stream"] !== true) {
    const message = { role: "assistant", content: text };
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    return send(response, { ...head, object: "chat.completion", choices, usage });
  }
  const chunk = (delta: object, finish: string | null) =>
    event({
      ...head,
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(
    chunk({ role: "assistant", content: text }, null) +
      chunk({}, "stop") +
      event({ ...head, object: "chat.completion.chunk", choices: [], usage }) +
      event("[DONE]"),
  );
}

let drawn = 0;

async function draw(response: ServerResponse): Promise<void> {
  const picture = await sceneOf((drawn += 1));
  const usage = {
    input_tokens: 34,
    output_tokens: 1_056,
    total_tokens: 1_090,
    input_tokens_details: { text_tokens: 34, image_tokens: 0 },
  };
  send(response, { created: 1, data: [{ b64_json: picture.toString("base64") }], usage });
}

/** `/down/...` refuses; every other path answers. */
export const startShowVendor = (): Promise<Recorder> =>
  startRecorder((request, response) => {
    if (request.path.startsWith("/down"))
      return send(response, { error: { message: "Overloaded, try again later" } }, 503);
    if (request.path.endsWith("/images/generations")) return draw(response);
    return chat(request, response);
  });

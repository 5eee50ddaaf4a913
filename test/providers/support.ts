/** Shared by the tests of added providers: a gateway that may reach this machine, an upstream, and request bodies that name it. */
import { startAdminGateway, type AdminGateway, type Answer } from "../admin/support.ts";
import { json, startRecorder, type Recorder } from "../support/recorder.ts";

/** A key that may be only in the requests to its upstream. */
export const secretKey = "sk-live-Zq81xV5rTt0pWm3Ld7KcYb2N";

/** A chat completions answer that costs something. */
const chatAnswer = {
  id: "c1",
  object: "chat.completion",
  created: 1,
  model: "upstream-model",
  choices: [{ index: 0, message: { role: "assistant", content: "OK" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1000, completion_tokens: 1000, total_tokens: 2000 },
};

export const answering = json(chatAnswer);

/** A text model as in the file. Its offers belong to the provider that it is added with. */
export const modelRow = (id: string, more: object = {}) => ({
  id,
  kind: "text",
  context_length: 10_000,
  max_output_tokens: 1000,
  offers: [
    { protocol: "chat", upstream_model: "upstream-model", price: { input: "1", output: "2" } },
  ],
  ...more,
});

/** A provider at an address, with one model. */
export const providerBody = (id: string, url: string, more: object = {}) => ({
  id,
  dialect: "openai-compatible",
  base_url: `${url}/v1`,
  api_key: secretKey,
  models: [modelRow(`${id}/model`)],
  ...more,
});

export const allowPrivate = { TOLLGATE_ALLOW_PRIVATE_ADDRESSES: "on" };

export interface World {
  readonly gateway: AdminGateway;
  readonly upstream: Recorder;
  close(): Promise<void>;
}

/** A gateway that may reach this machine, and an upstream that answers. */
export async function startWorld(
  options: Parameters<typeof startAdminGateway>[0] = {},
): Promise<World> {
  const upstream = await startRecorder(answering);
  const gateway = await startAdminGateway({
    ...options,
    environment: { ...allowPrivate, ...options.environment },
  });
  return {
    gateway,
    upstream,
    async close() {
      await gateway.close();
      await upstream.close();
    },
  };
}

/** Returns the JSON of an answer. Throws if the answer is not a success. */
// oxlint-disable-next-line typescript/no-explicit-any -- the JSON of many routes
export function must({ status, text, json: body }: Answer): any {
  if (status >= 300) throw new Error(`${status} ${text}`);
  return body;
}

/** A chat call with the gateway's own key. */
export const chat = (
  gateway: Pick<AdminGateway, "post">,
  model: string,
  headers: Record<string, string> = {},
): Promise<Response> =>
  gateway.post(
    "/v1/chat/completions",
    { model, messages: [{ role: "user", content: "hi" }], max_tokens: 50 },
    headers,
  );

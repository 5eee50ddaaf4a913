/** `POST /dashscope/api/v1/services/aigc/text2image/image-synthesis`: pictures from a prompt alone, as a task. */
import type { Artifacts } from "../artifacts.ts";
import { text, wrongField } from "../fields.ts";
import type { Json } from "../json.ts";
import { asObject, asText, isObject } from "../json.ts";
import type { Script } from "../script-fields.ts";
import type { Call, MediaRoute, Reply } from "../vendor.ts";
import { invalidParameter } from "./errors.ts";
import { elsewhere, ofPromptAlone, painted, parameterRules } from "./images.ts";
import type { Tasks } from "./tasks.ts";
import { refuseSynchronous } from "./tasks.ts";

const promptOf = ({ body }: Pick<Call, "body">): string =>
  asText(asObject(body["input"])["prompt"]);

function refuseWrongFields(call: Call): void {
  const { model, input, parameters = {}, ...rest } = call.body;
  if (!ofPromptAlone.test(asText(model))) throw invalidParameter(elsewhere);
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw invalidParameter(`${unknown}: unknown field`);
  if (!isObject(input)) throw invalidParameter("input: invalid type: expected an object");
  if (!isObject(parameters)) throw invalidParameter("parameters: invalid type: expected an object");
  const wrong =
    wrongField(input, { prompt: text, negative_prompt: text }) ??
    wrongField(parameters, parameterRules);
  if (wrong) throw invalidParameter(`${wrong.field}: ${wrong.fault}`);
  if (promptOf(call) === "") throw invalidParameter("input.prompt: missing");
}

export function textToImage(tasks: Tasks, artifacts: Artifacts): MediaRoute {
  async function submit(call: Call, script: Script): Promise<Reply> {
    const order = { prompt: promptOf(call), parameters: asObject(call.body["parameters"]) };
    const { links, usage } = await painted(artifacts, order, script);
    const output = (asked: Call): Json => ({
      results: links(asked).map((url) => ({ orig_prompt: order.prompt, url })),
      task_metrics: { TOTAL: usage.image_count, SUCCEEDED: usage.image_count, FAILED: 0 },
    });
    return tasks.submit({ output, usage: { image_count: usage.image_count } }, script);
  }

  return {
    kind: "media",
    name: "image_tasks",
    strict: [refuseSynchronous, refuseWrongFields],
    script: ({ body }, read) => read(promptOf({ body })),
    answer: submit,
  };
}

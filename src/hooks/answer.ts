/** Reads the answer of a hook strictly: anything but one of the three actions is a failure of the hook. */
import { isObject, readJson, parseJson, type WireObject } from "../base/json.ts";
import { shortText } from "../base/text.ts";

export type HookAnswer =
  | { readonly action: "allow" }
  | { readonly action: "refuse"; readonly message: string; readonly code: string | undefined }
  | {
      readonly action: "change";
      readonly model: string | undefined;
      readonly body: WireObject | undefined;
    };

/** A hook gave no valid answer. The message is for the operator's log. */
export class HookFailedError extends Error {
  override name = "HookFailedError";
}

const messageMax = 500;
const codePattern = /^[A-Za-z0-9_.-]{1,64}$/;
const refusedByRule = "A rule of this gateway's operator refused the request.";

/** Reads an answer. @throws HookFailedError */
export function readAnswer(bytes: Uint8Array): HookAnswer {
  const answer = parsed(bytes);
  const { action } = answer;
  if (action === "allow") return { action };
  if (action === "refuse") return { action, ...refusalOf(answer) };
  if (action === "change") return { action, ...changeOf(answer) };
  throw new HookFailedError('its answer has no "action" of allow, refuse and change');
}

function parsed(bytes: Uint8Array): WireObject {
  try {
    return parseJson(readJson(bytes));
  } catch (error) {
    throw new HookFailedError("its answer is not one JSON object", { cause: error });
  }
}

function refusalOf({ message, code }: WireObject) {
  const words = typeof message === "string" ? shortText(message.trim(), messageMax) : "";
  const isCode = typeof code === "string" && codePattern.test(code);
  return { message: words === "" ? refusedByRule : words, code: isCode ? code : undefined };
}

function changeOf({ body, model }: WireObject) {
  if (body !== undefined && !isObject(body)) throw new HookFailedError("its body is no object");
  if (model !== undefined && (typeof model !== "string" || model === ""))
    throw new HookFailedError("its model is no text");
  if (body === undefined && model === undefined)
    throw new HookFailedError("it changes neither body nor model");
  return { body, model };
}

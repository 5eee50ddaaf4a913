/**
 * Reads the image answers of OpenAI and xAI, which share a shape: `{data: [{b64_json | url, revised_prompt}], usage}`. xAI adds
 * `respect_moderation: false` to a withheld picture, and reports no tokens. Others send an `error` in place of a picture.
 */
import { isObject, type WireObject } from "../../base/json.ts";
import { plainBase64 } from "../../base/plain-base64.ts";
import { reportedAmount } from "../../base/usage.ts";
import { blockedByReason, blockedJob, emptyJob, failedJob } from "./refusal.ts";
import type { MediaRefusal, MediaResult, MediaState, Rendered, ReportedUsage } from "./types.ts";
import { isSuccess, objectIn, readObject, readRefusal, textIn, unreadable } from "./wire.ts";

const dataUrlHead = /^data:[^,]{0,200};base64,/i;

/**
 * Returns a picture's base64 in the strict form. Vendors prefix a data URL's head, break lines, use the URL alphabet or omit the padding.
 * Strict clients refuse that, and others silently get a broken picture.
 */
export function base64In(value: unknown): string | undefined {
  const base64 = textIn(value)?.replace(dataUrlHead, "") || undefined;
  return base64 === undefined ? undefined : plainBase64(base64);
}

/** Returns the picture of an item or event, in it or at its address; undefined if it has none. */
export function resultOf(item: WireObject): MediaResult | undefined {
  const url = textIn(item["url"]);
  const isInUrl = url !== undefined && dataUrlHead.test(url);
  const base64 = base64In(item["b64_json"]) ?? (isInUrl ? base64In(url) : undefined);
  if (base64 !== undefined) return { from: "base64", base64 };
  return url === undefined ? undefined : { from: "url", url };
}

/**
 * Returns the tokens that a vendor reports. Details that name only one kind leave the rest of the total to the other; a rest beside both
 * kinds, such as thinking, is text. Without details all input is text and all output pictures. Some vendors write 0 for unknown: details of 0 beside a total are ignored (T56). A total of 0
 * counts (T61). Some use the field names of chat completions.
 */
export function imageTokensIn(usage: unknown): ReportedUsage {
  const wire = objectIn(usage);
  const inputTotal = totalOf(wire["input_tokens"], wire["prompt_tokens"]);
  const outputTotal = totalOf(wire["output_tokens"], wire["completion_tokens"]);
  const input = detailsIn(
    wire["input_tokens_details"] ?? wire["prompt_tokens_details"],
    inputTotal,
  );
  const output = detailsIn(
    wire["output_tokens_details"] ?? wire["completion_tokens_details"],
    outputTotal,
  );
  const inputText = input.text ?? rest(inputTotal, input.image);
  const outputImage = output.image ?? rest(outputTotal, output.text);
  return {
    inputTextTokens: inputText,
    inputImageTokens: input.image ?? rest(inputTotal, inputText),
    outputTextTokens: output.text ?? rest(outputTotal, outputImage),
    outputImageTokens: outputImage,
  };
}

/** Returns the tokens of input or output, by either field name; vendors with both names write 0 for one of them. */
function totalOf(here: unknown, inChat: unknown): number | undefined {
  const [own, other] = [here, inChat].map(reportedAmount);
  return (own ?? 0) > 0 ? own : (other ?? own);
}

/** Returns the text and picture tokens of input or output; neither if both are 0 beside a total that is not. */
function detailsIn(details: unknown, total = 0) {
  const wire = objectIn(details);
  const [text, image] = [wire["text_tokens"], wire["image_tokens"]].map(reportedAmount);
  if ((text ?? 0) + (image ?? 0) === 0 && total > 0) return {};
  const isWhole = text !== undefined && image !== undefined;
  return { text: isWhole ? Math.max(text, total - image) : text, image };
}

const rest = (total: number | undefined, part: number | undefined): number | undefined =>
  total === undefined ? undefined : Math.max(0, total - (part ?? 0));

export const renderedIn = (wire: WireObject): Rendered => ({
  size: textIn(wire["size"]),
  quality: textIn(wire["quality"]),
  background: textIn(wire["background"]),
  outputFormat: textIn(wire["output_format"]),
});

/** Reads the answer to an image request: all pictures at once, without withheld ones; `failed` if none remains. */
export function imagesIn(status: number, body: Buffer): MediaState | MediaRefusal {
  if (!isSuccess(status)) return readRefusal(status, body);
  const wire = readObject(body);
  const data = wire?.["data"];
  const blocked = wire && blockedByReason(wire);
  if (!wire || !Array.isArray(data)) return blocked ?? unreadable(status, body);
  const items = data.map(objectIn);
  const shown = items.flatMap((item) => {
    const result = item["respect_moderation"] === false ? undefined : resultOf(item);
    return result ? [{ result, revisedPrompt: textIn(item["revised_prompt"]) }] : [];
  });
  if (shown.length === 0) {
    if (blocked) return blocked;
    if (items.some((item) => item["respect_moderation"] === false)) return blockedJob();
    const failed = items.find((item) => isObject(item["error"]));
    return failed ? failedJob(objectIn(failed["error"])) : emptyJob;
  }
  return {
    state: "succeeded",
    results: shown.map(({ result }) => result),
    revisedPrompts: shown.map(({ revisedPrompt }) => revisedPrompt),
    reported: imageTokensIn(wire["usage"]),
    rendered: renderedIn(wire),
  };
}

/**
 * Joins an answer that comes back in pieces. Google's SDKs keep each chunk of a streamed answer as a content of its own, and send them so when
 * they call tools themselves. Google then refuses parallel calls, because their results must follow the content with all calls. T38.
 */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { isObject } from "../../base/json.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import { read } from "./names.ts";

/** Joins in `body`, a copy of the caller's, adjacent contents of the model with calls whose results follow. Nothing is lost. */
export function joinTurns(body: JsonObject): void {
  const contents = exactTwinOf(body["contents"]);
  if (!Array.isArray(contents) || !contents.some((_one, at) => isPiece(contents, at))) return;
  const joined: Json[] = [];
  for (let from = 0; from < contents.length;) {
    const to = endOfTurn(contents, from);
    const turn = contents.slice(from, to).filter(isModels);
    const isCalling = turn.length > 1 && turn.some((one) => has(one, "functionCall"));
    if (isCalling && has(contents[to], "functionResponse")) joined.push(whole(turn));
    else joined.push(...contents.slice(from, to));
    from = to;
  }
  body["contents"] = joined;
}

type Content = JsonObject & { parts: Json[] };

const isModels = (content: Json | undefined): content is Content =>
  isObject(content) && content["role"] === "model" && Array.isArray(content["parts"]);

/** True if a content of the model follows another one. */
const isPiece = (contents: readonly Json[], at: number): boolean =>
  isModels(contents[at]) && isModels(contents[at - 1]);

/** Returns the position after the turn of the model that begins at `from`; of another content, the next position. */
function endOfTurn(contents: readonly Json[], from: number): number {
  let to = from + 1;
  while (isPiece(contents, to)) to += 1;
  return to;
}

const has = (content: Json | undefined, name: string): boolean =>
  isObject(content) &&
  Array.isArray(content["parts"]) &&
  content["parts"].some((part) => isObject(part) && isObject(read(part, name)));

/** The turn as one content, without the empty text that ends a stream. */
function whole(turn: readonly Content[]): JsonObject {
  const parts = turn.flatMap((content) => content.parts).filter((part) => !isEmpty(part));
  return { ...turn[0]!, parts };
}

const isEmpty = (part: Json): boolean =>
  isObject(part) && part["text"] === "" && Object.keys(part).length === 1;

/**
 * System turns within a conversation on the direct route. Claude Code sends them to the newest Claude models, and so to what these names are
 * mapped to, and to the fallbacks. Earlier Claude models ("role 'system' is not supported on this model") and MiniMax refuse them. There they
 * stay in place as marked turns of the user, as in conversions.
 */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { isObject } from "../../base/json.ts";
import type { Note } from "../../base/notes.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import { asReminder, inPlaceDetail } from "../late-system.ts";

/** Claude before Opus 4.8, and MiniMax. Models without such a name may take system turns. */
const refusing =
  /claude-(?:instant|[1-3](?!\d)|4(?!\d|[.-][89])|(?:sonnet|haiku)-4|opus-4(?![.-][89](?!\d))|mythos-preview)|minimax/i;

/** Rewrites the system turns of `body`, a copy of the caller's, if `model` refuses them. Other turns are shared. */
export function fitSystemTurns(body: JsonObject, model: string): Note[] {
  const messages = exactTwinOf(body["messages"]);
  if (!refusing.test(model) || !Array.isArray(messages) || !messages.some(isWords)) return [];
  const lastOfUser = messages.findLastIndex((turn) => isObject(turn) && turn["role"] === "user");
  body["messages"] = messages.flatMap((turn, index) =>
    isWords(turn) ? asUserTurn(turn, index < lastOfUser) : [turn],
  );
  return [{ param: "messages", kind: "rewritten", detail: inPlaceDetail }];
}

type SystemTurn = JsonObject & { content: string | Json[] };

/** True for a system turn of texts. One that changes tools or the effort has no form in which these models take it. */
function isWords(turn: Json): turn is SystemTurn {
  if (!isObject(turn) || turn["role"] !== "system" || isObject(turn["output_config"])) return false;
  const { content } = turn;
  return typeof content === "string" || (Array.isArray(content) && content.every(isText));
}

const isText = (block: Json): block is JsonObject & { text: string } =>
  isObject(block) && block["type"] === "text" && typeof block["text"] === "string";

function asUserTurn({ content, clear_at: until }: SystemTurn, isFollowed: boolean): JsonObject[] {
  if (isFollowed && until === "next_user_message") return [];
  if (typeof content === "string") {
    const text = asReminder(content);
    return text === undefined ? [] : [{ role: "user", content: text }];
  }
  const blocks = content.filter(isText).flatMap((block): JsonObject[] => {
    const text = asReminder(block.text);
    return text === undefined ? [] : [{ ...block, text }];
  });
  return blocks.length === 0 ? [] : [{ role: "user", content: blocks }];
}

/**
 * The output text of a messages stream so far, for an estimate where usage is missing.
 * Deltas are kept unread and parsed in batches, or never: most streams tell their usage.
 */
import { isObject, type WireObject } from "../../base/json.ts";
import { createTextLog } from "../text-log.ts";

export interface DeltaLog {
  /** The data of a `content_block_delta`, unread. */
  add(data: string): void;
  /** The `content_block` of a `content_block_start`; some vendors put the whole block there. */
  addBlock(block: WireObject): void;
  read(): string;
}

const unreadCharactersMax = 64 * 1024;

export function createDeltaLog(): DeltaLog {
  const log = createTextLog();
  let unread: string[] = [];
  let unreadCharacters = 0;
  const readAll = (): void => {
    for (const data of unread) log.add(deltaText(data));
    unread = [];
    unreadCharacters = 0;
  };
  return {
    add(data) {
      unread.push(data);
      unreadCharacters += data.length;
      if (unreadCharacters > unreadCharactersMax) readAll();
    },
    addBlock(block) {
      readAll();
      log.add(block["text"]);
      log.add(block["thinking"]);
      const input = block["input"];
      if (isObject(input) && Object.keys(input).length > 0) log.add(JSON.stringify(input));
    },
    read() {
      readAll();
      return log.read();
    },
  };
}

function deltaText(data: string): unknown {
  try {
    const event: unknown = JSON.parse(data);
    const delta = isObject(event) && isObject(event["delta"]) ? event["delta"] : {};
    return delta["text"] ?? delta["thinking"] ?? delta["partial_json"] ?? delta["content"];
  } catch {
    return undefined;
  }
}

/**
 * Regular expressions in schemas (`pattern`, names of `patternProperties`). JSON Schema means those of JavaScript, but vendors compile them
 * with other engines, and refuse the whole request if that fails: OpenAI with Python's and without lookaround, DeepSeek with Rust's. The
 * tools of Claude Code 2.1.265 (`\p{Cc}`, `\0`) and zod's `email()` (`(?!`) have such ones. T23.
 */
import { isObject } from "../base/json.ts";
import type { JsonObject } from "./canonical/request.ts";
import { mapSchemas, schemasIn } from "./schema-walk.ts";

/** Detail of the note about it. */
export const patternsDescribed =
  "patterns that upstreams refuse went into descriptions: only some engines read them";

/** Returns the schema with its other patterns in descriptions; the same object if all engines know all of them. */
export const withPortablePatterns = (schema: JsonObject): JsonObject =>
  holdsOther(schema) ? rewritten(schema) : schema;

const holdsOther = (schema: JsonObject): boolean =>
  describeOthers(schema) !== schema || schemasIn(schema).some(holdsOther);

const rewritten = (schema: JsonObject): JsonObject => mapSchemas(describeOthers(schema), rewritten);

/** Rewrites one schema, without those in it. */
function describeOthers(schema: JsonObject): JsonObject {
  const { pattern, patternProperties } = schema;
  const isOther = typeof pattern === "string" && !isPortable(pattern);
  const names = Object.entries(isObject(patternProperties) ? patternProperties : {});
  const { kept = [], others = [] } = Object.groupBy(names, ([name]) =>
    isPortable(name) ? "kept" : "others",
  );
  if (!isOther && others.length === 0) return schema;
  const result = { ...schema };
  const said: string[] = [];
  if (isOther) {
    delete result["pattern"];
    said.push(`pattern: ${JSON.stringify(pattern)}`);
  }
  if (others.length > 0) {
    result["patternProperties"] = Object.fromEntries(kept);
    // It would forbid the properties that the left out names allow.
    delete result["additionalProperties"];
    said.push(`patternProperties: ${JSON.stringify(others.map(([name]) => name))}`);
  }
  const { description } = schema;
  const words = typeof description === "string" && description !== "" ? [description] : [];
  return { ...result, description: [...words, `{${said.join(", ")}}`].join("\n\n") };
}

/** Longest pattern that is examined; there is no use for longer ones. */
const longest = 10_000;

/**
 * After a backslash: a character, or a class that all engines know. Not so \p{L}, \k<name>, \0, \1, \u{41}, halves of a surrogate pair; nor \<
 * and \>, which are the ends of a word for Rust, and an error in brackets.
 */
const escaped =
  /\\(?:[nrtfvdDwWsS]|x[\da-fA-F]{2}|u(?![dD][89a-fA-F])[\da-fA-F]{4}|[!-/:;=?@[-`{-~])/.source;
/** In brackets. A bare "[" is a class within the class for Rust, and "--" or "&&" an operation. Python refuses ranges from or to \w. */
const inBrackets = [
  String.raw`\\[dDwWsS](?!-[^\]])`,
  String.raw`(?!\\[dDwWsS])${escaped}`,
  String.raw`(?!&&|~~|\|\|)[^\\[\]-]`,
  String.raw`-(?!-|\\[dDwWsS])`,
].join("|");
const known = [
  // A hyphen that is the first makes no range, whatever follows.
  String.raw`\[(?:\^|(?!\^))(?:-(?!-)(?:${inBrackets})*|(?!-)(?:${inBrackets})+)\]`,
  escaped,
  String.raw`\\[bB]`,
  // No lookaround, no names, no flags.
  String.raw`\((?!\?)|\(\?:|\)`,
  String.raw`(?:[*+?]|\{\d+(?:,\d*)?\})\??`,
  String.raw`[|.^$]`,
  String.raw`[^\\()[\]{}*+?^$|.]`,
];

/** Shared, because building it takes longer than most patterns do. */
const token = new RegExp(known.join("|"), "y");

/** True if the engines of JavaScript, Python and Rust read the pattern, and read it alike. */
function isPortable(pattern: string): boolean {
  if (pattern.length > longest) return false;
  token.lastIndex = 0;
  while (token.lastIndex < pattern.length) if (!token.test(pattern)) return false;
  return isRegExp(pattern);
}

/** False for unclosed groups, ranges in the wrong order, and repeated repetitions. */
function isRegExp(pattern: string): boolean {
  try {
    return new RegExp(pattern) instanceof RegExp;
  } catch {
    return false;
  }
}

/**
 * Turns a call's argument text into pieces of one JSON object. Stream clients parse the pieces at the call's end: Anthropic's SDK fails on
 * anything else, and the whole turn is lost. Valid JSON is sent at once. Traps T2, T3.
 *
 * The text may turn out not to be an object (a bad escape, a second object, a truncation). Then the sent part is closed, its members are
 * overwritten with null, and the whole text goes under `arguments`, as in a whole answer. So no tool runs with half of its input.
 */
import { jsonBounds } from "../../base/json-scan.ts";
import { argumentsObject, isNoArguments } from "../tool-arguments.ts";

/** The next tokens that are allowed. */
type Expecting =
  | "object"
  | "first_name"
  | "name"
  | "in_name"
  | "colon"
  | "value"
  | "first_item"
  | "item"
  | "in_text"
  | "comma"
  | "nothing";

/** Completes the text sent so far to valid JSON, within its innermost object or list. */
const completions: Readonly<Partial<Record<Expecting, string>>> = {
  in_name: '":null',
  colon: ":null",
  value: "null",
  in_text: '"',
};

const blanks = /^[ \t\n\r]+$/;
const token =
  /[ \t\n\r]+|[{}[\],:"]|true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?(?=[^\d.eE+-])/y;
const begunToken = /^(?:-?[\d.eE+-]*|t|tr|tru|f|fa|fal|fals|n|nu|nul)$/;
const within = /"|\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;
const begunEscape = /^\\(?:u[\da-fA-F]{0,3})?$/;
/** Longest unfinished token: it is scanned again with each piece. */
const begunMax = 4_096;

/** Returns the end of the plain characters of a JSON string. */
function plainEnd(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < space || code === quote || code === backslash) break;
  }
  return at;
}

const space = 32;
const quote = 34;
const backslash = 92;

/** Processes the arguments of one call. */
export class InputPieces {
  #expecting: Expecting = "object";
  #isBroken = false;
  /** All pieces received. */
  readonly #pieces: string[] = [];
  /** The start of an unfinished token. */
  #begun = "";
  /** Tokens that could not be undone once sent: a comma, and the last brace. They are sent with the next token. */
  #held = "";
  /** Open objects and lists. */
  readonly #open: string[] = [];
  /** Names of the outermost members as JSON, and the received part of the name being read. */
  readonly #names = new Set<string>();
  #name = "";

  /** Takes a piece and returns the text to send. */
  push(piece: string): string {
    this.#pieces.push(piece);
    const text = this.#begun + piece;
    let at = 0;
    let sent = "";
    while (at < text.length && !this.#isBroken) {
      const next = this.#tokenAt(text, at);
      if (next === undefined) break;
      at += next.length;
      const goesOn = this.#take(next);
      if (this.#isBroken) break;
      this.#held += next;
      if (!goesOn) continue;
      sent += this.#held;
      this.#held = "";
    }
    this.#begun = this.#isBroken ? "" : text.slice(at);
    return sent;
  }

  /** Returns the text to send at the call's end; "" without arguments. */
  end(): string {
    if (this.#expecting === "nothing" && !this.#isBroken) return this.#held;
    const text = this.#pieces.join("");
    if (this.#expecting === "object")
      return isNoArguments(text) ? "" : JSON.stringify(argumentsObject(text));
    const inner = this.#open.slice(1).reverse();
    const closed = inner.map((bracket) => (bracket === "{" ? "}" : "]")).join("");
    const hasMembers = this.#names.size > 0 || this.#name !== "";
    const takenBack = [...this.#names].map((name) => `${name}:null,`).join("");
    const whole = `"arguments":${JSON.stringify(text)}}`;
    const begun = completions[this.#expecting] ?? "";
    return `${begun}${closed}${hasMembers ? "," : ""}${takenBack}${whole}`;
  }

  /** Returns the token at this position; undefined if it is unfinished or invalid. */
  #tokenAt(text: string, at: number): string | undefined {
    const isText = this.#expecting === "in_text" || this.#expecting === "in_name";
    const plain = isText ? plainEnd(text, at) : at;
    if (plain > at) return text.slice(at, plain);
    const pattern = isText ? within : token;
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) return found;
    const rest = text.slice(at, at + begunMax);
    const isBegun = rest.length < begunMax && (isText ? begunEscape : begunToken).test(rest);
    this.#isBroken = !isBegun;
    return undefined;
  }

  /** Takes a token. True if it may be sent now. */
  #take(next: string): boolean {
    const expecting = this.#expecting;
    if (expecting === "in_name" || expecting === "in_text") return this.#takeText(next);
    if (blanks.test(next)) return false;
    switch (expecting) {
      case "first_name":
        return next === "}" ? this.#close(next) : this.#takeName(next);
      case "name":
        return this.#takeName(next);
      case "first_item":
        return next === "]" ? this.#close(next) : this.#takeValue(next);
      case "value":
      case "item":
        return this.#takeValue(next);
      case "comma":
        if (next !== ",") return this.#close(next);
        this.#expect(this.#open.at(-1) === "{" ? "name" : "item");
        return false;
      default:
        return this.#takeMark(next);
    }
  }

  /** Takes the brace of the outermost object, or the colon after a name. Nothing may follow the object's end. */
  #takeMark(next: string): boolean {
    if (this.#expecting === "object" && next === "{") return this.#begin(next);
    if (this.#expecting === "colon" && next === ":") return this.#expect("value");
    return this.#break();
  }

  /** Takes the content of a name or string, and its end. */
  #takeText(next: string): boolean {
    const isName = this.#expecting === "in_name";
    if (isName && this.#open.length === 1) this.#name += next;
    if (next !== '"') return true;
    if (isName && this.#open.length === 1) {
      this.#names.add(this.#name);
      this.#name = "";
    }
    return this.#expect(isName ? "colon" : "comma");
  }

  #takeName(next: string): boolean {
    if (next !== '"') return this.#break();
    if (this.#open.length === 1) this.#name = next;
    return this.#expect("in_name");
  }

  #takeValue(next: string): boolean {
    if (next === "{" || next === "[") return this.#begin(next);
    if (next === '"') return this.#expect("in_text");
    return /^[-\dtfn]/.test(next) ? this.#expect("comma") : this.#break();
  }

  #begin(bracket: string): boolean {
    if (this.#open.length === jsonBounds.depth) return this.#break();
    this.#open.push(bracket);
    return this.#expect(bracket === "{" ? "first_name" : "first_item");
  }

  /** The outermost object is not closed yet: further text would make it invalid. */
  #close(bracket: string): boolean {
    if (bracket !== (this.#open.at(-1) === "{" ? "}" : "]")) return this.#break();
    if (this.#open.length === 1) {
      this.#expect("nothing");
      return false;
    }
    this.#open.pop();
    return this.#expect("comma");
  }

  #expect(next: Expecting): true {
    this.#expecting = next;
    return true;
  }

  #break(): false {
    this.#isBroken = true;
    return false;
  }
}

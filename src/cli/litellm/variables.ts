/**
 * Converts values of a LiteLLM file: `os.environ/NAME` becomes `${NAME}`, and a secret in the file becomes a variable to set. The
 * secret is never written, shown or kept.
 */
import { isSecretKey } from "../../catalog/index.ts";

/** A variable that the written file refers to. */
export interface Variable {
  readonly name: string;
  /** The fields of LiteLLM's file that use it. */
  readonly fields: string[];
  /** True if LiteLLM's file contains the value itself; it must be moved into the variable. */
  readonly literal: boolean;
}

const reference = /^os\.environ\/([A-Za-z_]\w*)$/;

/** True if a text stands for "no key". */
export const isNoKey = (text: string): boolean =>
  /^(none|empty|null|no-key|not-needed)$/i.test(text);

/** True if a value looks secret whatever its name: a known prefix, or 20 or more characters with letters and digits. */
const looksSecret = (text: string): boolean =>
  /^(sk-|bearer |basic |ghp_|hf_|eyJ)/i.test(text) ||
  (/^[\w.+/=-]{20,}$/.test(text) &&
    /\d/.test(text) &&
    /[A-Za-z]/.test(text) &&
    !text.includes("/v"));

/** Collects the variables of one conversion. */
export class Variables {
  readonly #byName = new Map<string, Variable>();
  /** The variable of each literal, so that the same key twice becomes one variable. Kept only during the conversion, never shown. */
  readonly #ofLiteral = new Map<string, string>();

  all(): readonly Variable[] {
    return [...this.#byName.values()].sort((left, right) => left.name.localeCompare(right.name));
  }

  /** Returns `${name}` of a variable that LiteLLM reads by default if a field is absent. */
  named(name: string, field: string): string {
    this.#note(name, field, false);
    return `\${${name}}`;
  }

  /** Converts a value that is no secret. A literal that looks like one of our placeholders becomes a variable. */
  plain(text: string, field: string, wish: string): string {
    const named = reference.exec(text)?.[1];
    if (named !== undefined) return this.named(named, field);
    return text.includes("${") ? this.#literal(text, field, wish) : text;
  }

  /** Converts a secret: always to a variable. `wish`: the variable's name if the file contains the secret itself. */
  secret(text: string, field: string, wish: string): string {
    const named = reference.exec(text)?.[1];
    return named === undefined ? this.#literal(text, field, wish) : this.named(named, field);
  }

  /** Converts a header or parameter. It is a secret if its name or its value looks like one. */
  header(name: string, text: string, field: string): string {
    const wish = `HEADER_${name}`;
    return isSecretKey(name) || looksSecret(text)
      ? this.secret(text, field, wish)
      : this.plain(text, field, wish);
  }

  /** True if the file contains a field's value itself. */
  isLiteral(text: string): boolean {
    return !reference.test(text);
  }

  #literal(text: string, field: string, wish: string): string {
    const known = this.#ofLiteral.get(text);
    const name = known ?? this.#free(wish);
    this.#ofLiteral.set(text, name);
    this.#note(name, field, true);
    return `\${${name}}`;
  }

  /** Returns a name that no other variable has. */
  #free(wish: string): string {
    const base = wish
      .toUpperCase()
      .replaceAll(/[^A-Z0-9]+/g, "_")
      .replace(/^(?=\d)/, "KEY_");
    for (let number = 1; ; number += 1) {
      const name = number === 1 ? base : `${base}_${number}`;
      if (!this.#byName.has(name)) return name;
    }
  }

  #note(name: string, field: string, literal: boolean): void {
    const variable = this.#byName.get(name);
    if (variable === undefined) this.#byName.set(name, { name, fields: [field], literal });
    else if (!variable.fields.includes(field)) variable.fields.push(field);
  }
}

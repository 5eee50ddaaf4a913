/** Input formats of custom tools, namespaces of tools, and the caller's choice among tools. */

/** A group in which several tools are declared, such as those of one MCP server. */
export interface ToolNamespace {
  readonly name: string;
  readonly description?: string | undefined;
}

/** Refers to a tool in a namespace. */
export interface ToolWithin {
  readonly namespace: string;
  readonly name: string;
}

/** Constraint on the input of a custom tool. */
export interface CustomInput {
  /** Absent: free text. */
  readonly format?: CustomFormat | undefined;
}

/** `syntax`: `lark` or `regex`. */
export type CustomFormat =
  | { readonly type: "text" }
  | { readonly type: "grammar"; readonly syntax: string; readonly definition: string };

export type ToolChoice =
  | { readonly type: "auto" }
  | { readonly type: "none" }
  | { readonly type: "required" }
  | {
      readonly type: "tool";
      readonly name: string;
      readonly namespace?: string | undefined;
      /** The caller chose a custom tool: a function may have the same name. Absent: a function, or no kind given. */
      readonly custom?: true | undefined;
    }
  | {
      readonly type: "allowed";
      readonly mode: "auto" | "required";
      readonly names: readonly string[];
      /** Tools in namespaces; absent: none. */
      readonly within?: readonly ToolWithin[] | undefined;
    };

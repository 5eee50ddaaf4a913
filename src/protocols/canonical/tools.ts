/** What tools are held to, what they stand within, and how a request chooses among them. */

/** What several tools are declared within, such as those of one MCP server. */
export interface ToolNamespace {
  readonly name: string;
  readonly description?: string | undefined;
}

/** Names a tool that is within a namespace. */
export interface ToolWithin {
  readonly namespace: string;
  readonly name: string;
}

/** What the input of a custom tool is held to. */
export interface CustomInput {
  /** Absent: any text. */
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
      /** It was chosen as a custom tool: a function may have the same name. Absent: as a function, or without a kind. */
      readonly custom?: true | undefined;
    }
  | {
      readonly type: "allowed";
      readonly mode: "auto" | "required";
      readonly names: readonly string[];
      /** Those that are within namespaces; absent: none. */
      readonly within?: readonly ToolWithin[] | undefined;
    };

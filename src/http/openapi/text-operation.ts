/** Shared by the text endpoints: a checked body in, an answer or a stream out. Requirements: TXT. */
import type { ErrorCode } from "../../base/errors.ts";
import { filteredNames } from "../../protocols/index.ts";
import {
  headerRef,
  requestBody,
  requestIdHeaders,
  type Node,
  type Operation,
  type RequestBody,
} from "./document.ts";
import { errorResponses, textCodes, type ErrorStyle } from "./errors.ts";

/** The description that all text endpoints share. Each operation repeats it, because a reader may open any of them. */
const aboutText = [
  "`model` is `vendor/model`. A suffix `:provider` selects a provider. A suffix `:@price`, `:@latency`, `:@throughput` or `:@balanced` selects the order in which providers are tried. The two cannot be combined. The answer has the id without its suffix.",
  `Fields that are not listed are passed on; the model's upstream may refuse them. ${filteredNames} are never forwarded. \`gw.droppedParams\`, or the header \`x-gw-dropped-params\` of a stream, names these and all other changes.`,
  "A stream that breaks after its first byte ends with an error event of this protocol, never with a normal ending. If the client disconnects, the usage until then is charged.",
].join("\n\n");

interface TextOperation {
  readonly operationId: string;
  readonly summary: string;
  /** The description of this endpoint alone; {@link aboutText} follows it. */
  readonly about: string;
  readonly style: ErrorStyle;
  readonly parameters?: readonly Node[];
  readonly extraCodes?: readonly ErrorCode[];
  readonly request: RequestBody;
  /** The 200 answer's content by media type. */
  readonly answer: Node;
}

export function textOperation(options: TextOperation): Operation {
  const { operationId, summary, style, request } = options;
  return {
    operationId,
    tags: ["Text"],
    summary,
    description: `${options.about}\n\n${aboutText}`,
    ...(options.parameters && { parameters: options.parameters }),
    requestBody: requestBody(request),
    responses: {
      200: {
        description: "The answer: whole, or as a stream if one was requested.",
        headers: {
          ...requestIdHeaders(style),
          "x-gw-dropped-params": headerRef("DroppedParams"),
        },
        content: options.answer,
      },
      ...errorResponses(style, [...textCodes, ...(options.extraCodes ?? [])]),
    },
  };
}

/** A stream of server-sent events. `frame` names the schema of each frame's data. */
export function eventStream(frame: string, description: string, example: string): Node {
  return {
    "text/event-stream": {
      schema: {
        type: "string",
        description,
        contentMediaType: "text/event-stream",
        "x-frame": { $ref: `#/components/schemas/${frame}` },
      },
      example,
    },
  };
}

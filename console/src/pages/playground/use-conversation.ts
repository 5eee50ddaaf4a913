/** The turns of a conversation with several models, and their answers as they arrive. */
import { useEffect, useRef, useState } from "react";
import { asApiError, type ApiError } from "../../api/errors.ts";
import { pathOf, wireBody, type Protocol } from "../../base/code.ts";
import { callGateway, idOf, isStop } from "./call.ts";
import { nothing, withPiece, type Content, type Message, type Tool } from "./conversation.ts";
import { bodyOf, framesOf, piecesOf } from "./wire.ts";

export interface Answer {
  readonly model: string;
  readonly state: "waiting" | "answering" | "done" | "stopped" | "failed";
  readonly content: Content;
  /** The id of its log row. */
  readonly requestId?: string;
  readonly error?: ApiError;
}

export interface Turn {
  readonly id: number;
  readonly said: Message;
  readonly keyId: string;
  readonly answers: readonly Answer[];
}

/** The request to each chosen model. */
export interface ChatRequest {
  readonly keyId: string;
  readonly protocol: Protocol;
  readonly models: readonly string[];
  readonly stream: boolean;
  readonly system: string;
  readonly said: Message;
  readonly tools: readonly Tool[];
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The history for a model: only its own answers, not those of other models. */
const historyFor = (turns: readonly Turn[], model: string): Message[] =>
  turns.flatMap(({ said, answers }) => {
    const own = answers.find((one) => one.model === model && one.content.text !== "");
    if (own === undefined) return [];
    return [said, { role: "assistant" as const, text: own.content.text, pictures: [] }];
  });

/** The call of one model. */
export const callOf = (chatRequest: ChatRequest, turns: readonly Turn[], model: string) => ({
  protocol: chatRequest.protocol,
  stream: chatRequest.stream,
  model,
  body: bodyOf(chatRequest.protocol, {
    system: chatRequest.system,
    said: [...historyFor(turns, model), chatRequest.said],
    tools: chatRequest.tools,
    fields: chatRequest.fields,
  }),
});

type Call = ReturnType<typeof callOf>;
const drawnMs = 50;

/** Makes a call and reports its progress at most every 50 ms; it never throws. Returns whether any answer arrived. */
async function streamAnswer(
  call: Call,
  { keyId, signal }: { keyId: string; signal: AbortSignal },
  report: (answer: Partial<Answer>) => void,
): Promise<boolean> {
  let content = nothing;
  let drawnAt = 0;
  try {
    const response = await callGateway({ keyId, path: pathOf(call), body: wireBody(call), signal });
    report({ state: "answering", requestId: idOf(response) });
    const streamed = response.headers.get("content-type")?.startsWith("text/event-stream");
    const frames = streamed === true ? framesOf(response.body!) : [await response.json()];
    for await (const frame of frames) {
      for (const piece of piecesOf(call.protocol, frame)) content = withPiece(content, piece);
      if (Date.now() - drawnAt < drawnMs) continue;
      drawnAt = Date.now();
      report({ content });
    }
    const isDone = content.fault === "";
    report({ state: isDone ? "done" : "failed", content });
    return isDone || content.text !== "";
  } catch (thrown) {
    report({ content, ...endOf(thrown) });
    return content.text !== "";
  }
}

/** The end state of a stopped, refused or aborted call. */
function endOf(thrown: unknown): Partial<Answer> {
  if (isStop(thrown)) return { state: "stopped" };
  const error = asApiError(thrown);
  const { requestId } = error;
  return { state: "failed", error, ...(requestId !== undefined && { requestId }) };
}

export function useConversation(ended: (requestId: string) => void) {
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const [running, setRunning] = useState(false);
  const stopping = useRef<AbortController>(undefined);
  useEffect(() => () => stopping.current?.abort(), []);

  /** Calls all chosen models. False if none of them answered. */
  async function run(chatRequest: ChatRequest): Promise<boolean> {
    const stop = new AbortController();
    stopping.current = stop;
    setRunning(true);
    const id = (turns.at(-1)?.id ?? 0) + 1;
    const begun = chatRequest.models.map((model): Answer => ({
      model,
      state: "waiting",
      content: nothing,
    }));
    const { said, keyId } = chatRequest;
    setTurns((before) => [...before, { id, said, keyId, answers: begun }]);
    const report = (model: string) => (part: Partial<Answer>) =>
      setTurns((before) =>
        before.map((turn) =>
          turn.id === id
            ? {
                ...turn,
                answers: turn.answers.map((one) =>
                  one.model === model ? { ...one, ...part } : one,
                ),
              }
            : turn,
        ),
      );
    const answered = await Promise.all(
      chatRequest.models.map(async (model) => {
        let requestId: string | undefined;
        const call = callOf(chatRequest, turns, model);
        const isAnswered = await streamAnswer(call, { keyId, signal: stop.signal }, (part) => {
          ({ requestId = requestId } = part);
          report(model)(part);
        });
        if (requestId !== undefined) ended(requestId);
        return isAnswered;
      }),
    );
    setRunning(false);
    return answered.includes(true);
  }

  return {
    turns,
    running,
    run,
    stop: () => stopping.current?.abort(),
    clear: () => setTurns([]),
  };
}

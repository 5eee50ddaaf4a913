/** The conversation: messages, and the models' answers side by side. Model output is rendered as plain text. */
import { Group, SimpleGrid, Text } from "@mantine/core";
import { memo } from "react";
import { isolated } from "../../base/isolated.ts";
import type { Content } from "./conversation.ts";
import { Cost } from "./cost.tsx";
import { Failure } from "./failure.tsx";
import classes from "./playground.module.css";
import type { Answer, Turn } from "./use-conversation.ts";

function Body({ content: { text, thought, calls, fault } }: { content: Content }) {
  return (
    <>
      {thought !== "" && (
        <details>
          <summary>Thought</summary>
          <div className={`${classes["text"]} muted`}>{thought}</div>
        </details>
      )}
      {text !== "" && <div className={classes["text"]}>{text}</div>}
      {calls.map((call) => (
        <div key={call.at} className={`${classes["text"]} mono`}>
          {call.name}({call.arguments})
        </div>
      ))}
      {fault !== "" && (
        <Text size="sm" className="bad" role="alert">
          {fault}
        </Text>
      )}
    </>
  );
}

const isOver = ({ state }: Answer): boolean => state !== "waiting" && state !== "answering";

function AnswerPanel({ answer, keyId }: { answer: Answer; keyId: string }) {
  const { model, state, content, requestId, error } = answer;
  return (
    <section className="panel" aria-label={`Answer of ${model}`}>
      <Group justify="space-between" wrap="nowrap">
        <Text fw={650} className="cut">
          {model}
        </Text>
        <output className={state === "failed" ? "bad" : "muted"}>
          {state === "done" && content.isCut ? "cut at the maximum of output" : state}
        </output>
      </Group>
      <div className={classes["answer"]}>
        <Body content={content} />
        {error !== undefined && <Failure error={error} keyId={keyId} />}
      </div>
      {isOver(answer) && requestId !== undefined && <Cost id={requestId} />}
    </section>
  );
}

export const TurnView = memo(({ turn: { said, answers, keyId } }: { turn: Turn }) => (
  <div>
    <div className={classes["said"]}>
      <Text size="sm" className="muted">
        You
      </Text>
      <div className={classes["text"]}>{said.text}</div>
      {said.pictures.length > 0 && (
        <Text size="sm" className="muted">
          with {said.pictures.map(({ name }) => isolated(name)).join(", ")}
        </Text>
      )}
    </div>
    <SimpleGrid cols={{ base: 1, md: Math.min(answers.length, 2), xl: answers.length }}>
      {answers.map((answer) => (
        <AnswerPanel key={answer.model} answer={answer} keyId={keyId} />
      ))}
    </SimpleGrid>
  </div>
));
TurnView.displayName = "TurnView";

/** The results, newest first. */
import { Group, Text } from "@mantine/core";
import { Cost } from "./cost.tsx";
import { Failure } from "./failure.tsx";
import classes from "./playground.module.css";
import { textsOf } from "./similarity.ts";
import { ShownPicture } from "./shown-picture.tsx";
import { TaskCard } from "./task-card.tsx";
import type { Generation } from "./use-generations.ts";
import { Vectors } from "./vectors.tsx";

interface GenerationPanelProps {
  readonly one: Generation;
  readonly ended: (id: string) => void;
}

function GenerationPanel({ one, ended }: GenerationPanelProps) {
  const { model, label, state, output, error, keyId } = one;
  return (
    <section className="panel" aria-label={`Made by ${model}`}>
      <Group justify="space-between" wrap="nowrap">
        <Text fw={650} className="cut">
          {model}
        </Text>
        <output className={state === "failed" ? "bad" : "muted"}>
          {output?.taskId === undefined ? state : "sent"}
        </output>
      </Group>
      <div className={`${classes["text"]} muted`}>{label}</div>
      {error !== undefined && <Failure error={error} keyId={keyId} />}
      {output?.pictures.map((blob, index) => (
        <ShownPicture key={String(index)} blob={blob} alt={`Made by ${model}, ${index + 1}`} />
      ))}
      {output !== undefined && output.vectors.length > 0 && (
        <Vectors vectors={output.vectors} inputs={textsOf(label)} />
      )}
      {output?.taskId !== undefined && <TaskCard id={output.taskId} ended={ended} />}
      {output?.requestId !== undefined && <Cost id={output.requestId} />}
      {error?.requestId !== undefined && <Cost id={error.requestId} />}
    </section>
  );
}

export const GenerationList = (props: {
  list: readonly Generation[];
  ended: (id: string) => void;
}) => props.list.map((one) => <GenerationPanel key={one.id} one={one} ended={props.ended} />);

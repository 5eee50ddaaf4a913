/** What a task produced, or why there is nothing to see. Its place is kept while it is on its way. */
import { Text } from "@mantine/core";
import { useState } from "react";
import classes from "./tasks.module.css";
import { withoutOutput, type Output, type Task } from "./filters.ts";

/** Two videos at once are a noise. */
function pauseOthers(playing: HTMLVideoElement) {
  for (const video of document.querySelectorAll("video")) if (video !== playing) video.pause();
}

function Shown({ output, label }: { output: Output; label: string }) {
  const [isGone, setIsGone] = useState(false);
  if (isGone) return <Text className="muted">This file is no longer there.</Text>;
  return output.kind === "image" ? (
    <img
      src={output.path}
      alt={label}
      loading="lazy"
      decoding="async"
      onError={() => setIsGone(true)}
    />
  ) : (
    <video
      src={output.path}
      aria-label={label}
      controls
      muted
      playsInline
      preload="metadata"
      onError={() => setIsGone(true)}
      onPlay={({ currentTarget }) => pauseOthers(currentTarget)}
    />
  );
}

interface PreviewProps {
  readonly task: Task;
  readonly outputs: readonly Output[];
}

export function Preview({ task, outputs }: PreviewProps) {
  if (outputs.length === 0) {
    return (
      <div className={classes["nothing"]}>
        <Text size="sm" className="muted" lineClamp={4}>
          {withoutOutput(task)}
        </Text>
      </div>
    );
  }
  return outputs.map((output, index) => (
    <div key={output.path} className={classes["shown"]}>
      <Shown
        output={output}
        label={`${output.kind} ${index + 1} of ${outputs.length} by ${task.model}`}
      />
    </div>
  ));
}

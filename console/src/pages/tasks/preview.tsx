/** A task's output, or why there is none. It keeps its place while loading. */
import { Text } from "@mantine/core";
import { useState } from "react";
import classes from "./tasks.module.css";
import { withoutOutput, type Output, type Task } from "./filters.ts";

/** Lets only one video play. */
function pauseOthers(playing: HTMLVideoElement) {
  for (const video of document.querySelectorAll("video")) if (video !== playing) video.pause();
}

interface ShownProps {
  readonly output: Output;
  readonly label: string;
  /** Uses a thumbnail of an image, for the gallery. */
  readonly isSmall: boolean;
}

const small = (path: string) => ({
  src: `${path}?width=320`,
  srcSet: `${path}?width=320 1x, ${path}?width=640 2x`,
});

function Shown({ output, label, isSmall }: ShownProps) {
  const [isGone, setIsGone] = useState(false);
  if (isGone) return <Text className="muted">This file is no longer stored.</Text>;
  return output.kind === "image" ? (
    <img
      {...(isSmall ? small(output.path) : { src: output.path })}
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
  readonly isSmall?: boolean;
}

export function Preview({ task, outputs, isSmall = false }: PreviewProps) {
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
        isSmall={isSmall}
        label={`${output.kind} ${index + 1} of ${outputs.length} by ${task.model}`}
      />
    </div>
  ));
}

/** The end of a list with more pages: a button that loads the next one, and the error of the last try. */
import { Button, Group, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { asApiError } from "../api/errors.ts";
import type { NextPage } from "./pages.ts";

interface MoreProps {
  readonly next: NextPage;
  /** The button's label. */
  readonly label?: string;
  readonly size?: "xs" | "sm";
  /** Text before the button, if it shows. */
  readonly note?: string | undefined;
  /** Content after the button, or in its place. */
  readonly children?: ReactNode;
}

export function More({ next, label = "Show more", size = "sm", note, children }: MoreProps) {
  const { hasNextPage, isFetchingNextPage, nextPageError, fetchNextPage } = next;
  if (!hasNextPage) return children === undefined ? null : <Group mt="md">{children}</Group>;
  return (
    <Group gap="md" mt="md">
      {nextPageError !== null && (
        <Text component="span" size="sm" role="alert" className="bad">
          What comes next is not shown. {asApiError(nextPageError).message}
        </Text>
      )}
      {note !== undefined && <span className="muted">{note}</span>}
      <Button variant="default" size={size} loading={isFetchingNextPage} onClick={fetchNextPage}>
        {nextPageError === null ? label : "Try again"}
      </Button>
      {children}
    </Group>
  );
}

/** The end of a list that has more: a button that asks for it, and why the last one that was asked for did not come. */
import { Button, Group, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { asApiError } from "../api/errors.ts";
import type { NextPage } from "./pages.ts";

interface MoreProps {
  readonly next: NextPage;
  /** On the button. */
  readonly label?: string;
  readonly size?: "xs" | "sm";
  /** Stands before the button, where there is one. */
  readonly note?: string | undefined;
  /** Stands behind it, or in its place. */
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

/** The frame of pages that somebody opens by a link with a token: what it leads to, or that it leads nowhere any more. */
import { Anchor } from "@mantine/core";
import { useRouterState } from "@tanstack/react-router";
import { useEffect, type ReactNode } from "react";
import { ApiError } from "../api/errors.ts";
import { FormError } from "./form-error.tsx";
import { Outside } from "./outside.tsx";

/** The token of the link: behind the `#`, which no browser sends. */
export const useToken = (): string => useRouterState({ select: ({ location }) => location.hash });

interface LinkPageProps {
  readonly title: string;
  /** Why it leads nowhere; undefined while it may lead somewhere. */
  readonly gone: string | undefined;
  readonly children: ReactNode;
}

export function LinkPage({ title, gone, children }: LinkPageProps) {
  useEffect(() => {
    document.title = `${title} - Tollgate`;
  }, [title]);
  return (
    <Outside title={title}>
      {gone === undefined ? (
        children
      ) : (
        <>
          <FormError error={new ApiError(404, gone)} />
          <Anchor href="/">Go to the first page</Anchor>
        </>
      )}
    </Outside>
  );
}

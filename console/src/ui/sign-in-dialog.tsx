/** The sign-in dialog over a page whose session has ended. The page stays as it is; refused requests are sent again. */
import { Anchor, Modal, Text } from "@mantine/core";
import { useEffect } from "react";
import { resendAfterSignIn } from "../api/reauth.ts";
import { useFocusBack } from "./use-focus-back.ts";
import { SignInForm } from "./sign-in-form.tsx";

interface SignInDialogProps {
  readonly userId: string | null;
  readonly email: string;
}

/** If the reader has signed in again in another tab, the dialog closes. If another user has, the page reloads for that user. */
async function lookWho(userId: string | null): Promise<void> {
  const answer = await fetch("/admin/v1/me").catch(() => undefined);
  if (answer?.ok !== true) return;
  const me = (await answer.json()) as { user_id: string | null };
  if (me.user_id === userId) resendAfterSignIn();
  else location.assign("/");
}

export function SignInDialog({ userId, email }: SignInDialogProps) {
  useFocusBack();
  useEffect(() => {
    const look = () => void lookWho(userId);
    addEventListener("focus", look);
    return () => removeEventListener("focus", look);
  }, [userId]);
  return (
    <Modal
      opened
      onClose={() => undefined}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      zIndex={400}
      title="Your session has ended"
    >
      <Text mb="lg">Sign in again. The page keeps its state and repeats the refused request.</Text>
      <SignInForm
        email={email}
        onSignedIn={({ password_change_required: mustChange }) => {
          if (mustChange) location.assign("/password");
          else resendAfterSignIn();
        }}
        // Opens a new tab; this one checks for a session when it regains the focus.
        onElsewhere={(address) => window.open(address, "_blank", "noopener")}
      />
      <Text mt="lg" size="sm">
        <Anchor href="/sign-in">Sign in as another user</Anchor>, and leave this page.
      </Text>
    </Modal>
  );
}

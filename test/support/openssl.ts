/** Checks for the program `openssl`. */
import { execFileSync } from "node:child_process";

export function hasOpenssl(): boolean {
  try {
    execFileSync("openssl", ["version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

// What to say while a trial has not begun to speak.

const WORDS: Record<string, string> = {
  STATE_QUEUED: "It waits for slots (step 1 of 4).",
  STATE_PULLING: "Its image is being pulled (step 2 of 4).",
  STATE_STARTING: "Its container is starting (step 3 of 4).",
  STATE_RUNNING: "It runs (step 4 of 4) and has written nothing yet.",
  STATE_PAUSED: "It is paused and has written nothing yet.",
};

export function startingText(state: string): string {
  return WORDS[state] ?? "It wrote no log lines, or their retention has ended.";
}

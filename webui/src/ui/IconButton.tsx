// The button with a picture; lives beside Button, found under its own name.
export { IconButton, type IconButtonProps } from "./Button";

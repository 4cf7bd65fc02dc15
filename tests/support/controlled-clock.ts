export { ControlledClock, settle } from "../../src/testing/controlled-clock.ts";

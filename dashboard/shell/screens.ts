/** The screens, in the order of the navigation. `keys` opens one with the keyboard. */
export const SCREENS = [
  { name: "Overview", to: "/", part: undefined, keys: "g o", icon: "M2 8.5 8 3l6 5.5M4 7.5V13h8V7.5" },
  { name: "Workflows", to: "/workflows", part: "workflows", keys: "g w", icon: "M2 3.5h7M5 8h9M4 12.5h6" },
  { name: "Hooks", to: "/hooks", part: "hooks", keys: "g h", icon: "M9 2 4 9h4l-1 5 5-7H8z" },
  {
    name: "Subjects",
    to: "/subjects",
    part: "subjects",
    keys: "g s",
    icon: "M2.5 2.5h4v4h-4zM9.5 2.5h4v4h-4zM2.5 9.5h4v4h-4zM9.5 9.5h4v4h-4z",
  },
  {
    name: "Schedules",
    to: "/schedules",
    part: "schedules",
    keys: "g t",
    icon: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2M8 4.8V8l2.3 1.6",
  },
  { name: "Lines", to: "/lines", part: "lines", keys: "g l", icon: "M2 4h12M2 8h8M2 12h4" },
  { name: "Workers", to: "/workers", part: "workers", keys: "g r", icon: "M3 3h10v7H3zM6 13h4" },
] as const;

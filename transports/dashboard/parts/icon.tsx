// The icons: one path each, on 16 by 16.
const PATHS = {
  archive: 'M2.5 3h11v3h-11zM3.5 6v7h9V6M6.5 8.8h3',
  back: 'M10 3.5 5.5 8l4.5 4.5',
  bell: 'M4 11V7.500a4 4 0 0 1 8 0V11l1 1.500H3zM6.800 14.200h2.400',
  block: 'M5.4 2h5.2L14 5.4v5.200L10.600 14H5.400L2 10.600V5.400zM8 5v3.500M8 11h.01',
  check: 'M3.5 8.500l3 3 6-7',
  chevron: 'M4 6l4 4 4-4',
  close: 'M4 4l8 8M12 4l-8 8',
  copy: 'M5.500 5.500h8v8h-8zM10.500 5.500v-3h-8v8h3',
  costs: 'M3 13V8.500M8 13V3M13 13V6',
  down: 'M8 3v10M4 9l4 4 4-4',
  download: 'M8 2.500v8M4.500 7.500 8 11l3.500-3.500M3 13.500h10',
  edit: 'M3 13l.7-3L10.500 3.200l2.300 2.300L6 12.300z',
  events: 'M8 2.500a5.500 5.500 0 1 0 5.500 5.500M8 5v3.200l2 1.300M11 2.500h2.500V5',
  filter: 'M2.500 4h11M4.500 8h7M6.500 12h3',
  find: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.700 10.700 14 14',
  fleet: 'M2.500 4h11M2.500 8h11M2.500 12h11',
  gateway: 'M2 8h3.500l2-4.500 2.500 9 2-4.500H14',
  key: 'M10.500 8.500a3 3 0 1 0-3-3l-5 5v3h3v-1.500H7V10.500h1l.700-.700M11 5h.01',
  link: 'M6.500 9.500l3-3M7 4.500l1.500-1.500a3 3 0 0 1 4.500 4.500L11.500 9M9 11.500 7.500 13A3 3 0 0 1 3 8.500L4.500 7',
  message: 'M2.500 3.500h11v8h-6l-3 2.500v-2.500h-2z',
  next: 'M6 3.500 10.500 8 6 12.500',
  more: 'M3.500 8h.01M8 8h.01M12.500 8h.01',
  pause: 'M5.500 3.500v9M10.500 3.500v9',
  pin: 'M6 2.500h4M6.500 2.500v4L4.500 9h7l-2-2.500v-4M8 9v4.500',
  play: 'M5 3.500v9l7.500-4.500z',
  plus: 'M8 3v10M3 8h10',
  power: 'M8 2.500v5M4.800 4.500a4.700 4.700 0 1 0 6.400 0',
  restart: 'M13 8a5 5 0 1 1-1.500-3.500M13 2.500V5h-2.500',
  send: 'M8 13V3M4 7l4-4 4 4',
  settings: 'M2.500 5h6M11.500 5h2M2.500 11h2M7.500 11h6M10 3.500v3M6 9.500v3',
  stop: 'M4.500 4.500h7v7h-7z',
  tools:
    'M10.500 2.500a3.500 3.500 0 0 0-3.300 4.700L2.500 12 4 13.500l4.800-4.700a3.500 3.500 0 0 0 4.400-4.500L11.200 6.300 9.700 4.800l2-2a3.500 3.500 0 0 0-1.200-.300z',
  trash: 'M3 4.500h10M6.500 4.500V3h3v1.500M4.500 4.500l.500 9h6l.500-9',
  upload: 'M8 11V3M4.500 6.500 8 3l3.500 3.500M3 13.500h10',
  warning: 'M8 2.500 14 13H2zM8 6.500v3M8 11.200h.01',
} as const;

export type IconName = keyof typeof PATHS;

/** An icon beside words; it has no meaning of its own. */
export function Icon({ name, small = false }: { readonly name: IconName; readonly small?: boolean }) {
  return (
    <svg class={small ? 'icon s' : 'icon'} viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

/** The sign of Blockhouse. */
export function Logo({ size = 18 }: { readonly size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 18 18" aria-hidden="true">
      <path
        fill="currentColor"
        fill-rule="evenodd"
        d="M1 3.200C1 2.500 1.500 2 2.200 2h13.600c.700 0 1.200.500 1.200 1.200v4.600c0 .400-.300.700-.700.700H15v6.300c0 .700-.500 1.200-1.200 1.200H4.200c-.700 0-1.200-.500-1.200-1.200V8.500H1.700c-.400 0-.700-.300-.700-.700zM5 4.700h8V6H5zM7.600 11h2.800v5H7.600z"
      />
    </svg>
  );
}

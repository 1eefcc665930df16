import type { NextConfig } from 'next';

const config: NextConfig = {
  // Compression would hold events back until a block is full.
  compress: false,
};

export default config;

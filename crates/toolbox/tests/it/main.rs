//! The toolbox against real servers, real processes and real files.

mod blocks;
mod building;
mod egress;
mod generators;
mod offline_generator;
mod providers;
mod sandbox;
mod tools;

//! Arguments and results as text: tags, silence, likeness, and the recipes of the presets.
